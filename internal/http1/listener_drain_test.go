package http1

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestDrainingEndsAtOnceWhatIsNotServedAndServesWhatHasArrived(t *testing.T) {
	s := newStage(t, ListenerConfig{})
	fresh, idle, half, held, never := s.dial(), s.dial(), s.dial(), s.dial(), s.dial()
	if status, _ := s.ask(idle, "/"); status != 200 {
		t.Fatal(status)
	}
	<-s.begun
	_, _ = io.WriteString(half, "GET / HTTP/1.1\r\nHo")
	_, _ = io.WriteString(never, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
	<-s.begun
	answered := make(chan int, 1)
	go func() {
		status, _ := s.ask(held, "/held")
		answered <- status
	}()
	<-s.begun
	s.await("all are there", open(5))
	began, left := time.Now(), make(chan int, 1)
	go func() { left <- s.listener.Drain(t.Context()) }()
	if !ended(idle) {
		t.Error("a connection without a request was not closed")
	}
	if took := time.Since(began); took > handshakes+headGrace/2 {
		t.Errorf("a connection without a request lived for %v", took)
	}
	if !ended(fresh) {
		t.Error("a connection that was never used was not closed")
	}
	_, _ = io.ReadAll(half)
	if took := time.Since(began); took > headGrace+time.Second {
		t.Errorf("half a head lived for %v", took)
	}
	s.await("the one that never reads is cut", open(1))
	if took := time.Since(began); took > drainStall+2*time.Second {
		t.Errorf("one that never reads lived for %v", took)
	}
	s.finish()
	if status := <-answered; status != 200 {
		t.Errorf("the request that was being served: %d", status)
	}
	if n := <-left; n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// TestARequestThatArrivesWithTheDrainIsServedOrNeverRead lets requests race the drain: each is
// answered, or its connection ends before anybody acted on it.
func TestARequestThatArrivesWithTheDrainIsServedOrNeverRead(t *testing.T) {
	for range 20 {
		s := newStage(t, ListenerConfig{})
		const clients = 8
		var all sync.WaitGroup
		var ready sync.WaitGroup
		ready.Add(clients)
		start := make(chan struct{})
		answers := make(chan int, clients)
		for range clients {
			conn := s.dial()
			all.Go(func() {
				s.ask(conn, "/")
				ready.Done()
				<-start
				status, _ := s.ask(conn, "/late")
				answers <- status
				if status == 200 {
					_ = conn.Close()
				}
			})
		}
		ready.Wait()
		close(start)
		if left := s.listener.Drain(t.Context()); left != 0 {
			t.Fatalf("%d left", left)
		}
		all.Wait()
		served, answered := 0, 0
		for len(s.begun) > 0 {
			if <-s.begun == "/late" {
				served++
			}
		}
		for range clients {
			if <-answers == 200 {
				answered++
			}
		}
		if served != answered {
			t.Fatalf("%d requests were handled, %d answered", served, answered)
		}
	}
}

func TestDrainGivesUpWithItsContext(t *testing.T) {
	s := newStage(t, ListenerConfig{})
	go s.ask(s.dial(), "/held")
	<-s.begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if left := s.listener.Drain(ctx); left != 1 {
		t.Errorf("%d left", left)
	}
	s.finish()
}

// TestNoConnectionThatWasMadeIsLostWhenAListenerDrains has clients call on a new connection each, one after the other,
// while the listener drains: an attempt is refused, or its request is answered.
func TestNoConnectionThatWasMadeIsLostWhenAListenerDrains(t *testing.T) {
	made := 0
	for range 3 {
		s := newStage(t, ListenerConfig{})
		go func() {
			for range s.begun { // nobody else looks
			}
		}()
		var all sync.WaitGroup
		var answered atomic.Int64
		for range 16 {
			all.Go(func() {
				for {
					conn, err := net.Dial("tcp", s.listener.Addr().String())
					if err != nil {
						return
					}
					_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
					if status, _ := s.ask(conn, "/"); status != 200 {
						t.Errorf("a connection was made, and its request got %d", status)
					}
					_ = conn.Close()
					answered.Add(1)
				}
			})
		}
		s.await("calls are made", func(ListenerStats) bool { return answered.Load() > 500 })
		s.listener.Drain(t.Context())
		all.Wait()
		made += int(answered.Load())
		close(s.begun)
	}
	t.Logf("%d connections", made)
}
