package console

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/openapi"
)

var (
	asksMuch = identity.Principal{Audience: identity.Developer, Email: "much@example.com"}
	asksOnce = identity.Principal{Audience: identity.Developer, Email: "once@example.com"}
)

func (q *questions) count() (accounts int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.of)
}

func (q *questions) users(who identity.Principal) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a := q.of[callerOf(who)]; a != nil {
		return a.users
	}
	return 0
}

func comesAbout(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come about", what)
		}
	}
}

func TestAnAccountAsksAFewQuestionsAtATimeWhateverOthersDo(t *testing.T) {
	q := newQuestions(questionsAtATime, questionsWaiting)
	q.wait = time.Hour
	var releases []func()
	for range questionsAtATime {
		_, release, err := q.admit(t.Context(), asksMuch)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	waiting, leave := context.WithCancel(t.Context())
	var asked sync.WaitGroup
	for range questionsWaiting - 1 {
		asked.Go(func() {
			if _, _, err := q.admit(waiting, asksMuch); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("one that left while it waited: %v", err)
			}
		})
	}
	turn := make(chan func(), 1)
	comesAbout(t, "waiting", func() bool { return q.users(asksMuch) == questionsAtATime+questionsWaiting-1 })
	asked.Go(func() {
		_, release, err := q.admit(t.Context(), asksMuch)
		if err != nil {
			t.Errorf("one that waited for its turn: %v", err)
			return
		}
		turn <- release
	})
	comesAbout(t, "waiting", func() bool { return q.users(asksMuch) == questionsAtATime+questionsWaiting })
	if _, _, err := q.admit(t.Context(), asksMuch); fault.KindOf(err) != fault.TooManyAttempts {
		t.Errorf("one more than may wait: %v", err)
	}
	administrator := asksMuch
	administrator.Audience = identity.Admin
	for _, other := range []identity.Principal{asksOnce, administrator} {
		_, release, err := q.admit(t.Context(), other)
		if err != nil {
			t.Fatalf("somebody else: %v", err)
		}
		release()
	}
	leave()
	comesAbout(t, "leaving", func() bool { return q.users(asksMuch) == questionsAtATime+1 })
	releases[0]()
	(<-turn)()
	asked.Wait()
	for _, release := range releases[1:] {
		release()
	}
	if n := q.count(); n != 0 {
		t.Errorf("%d accounts are remembered after all questions ended", n)
	}
}

// TestAQuestionOfOneWhoLeftFreesItsPlaceAndOneWithoutAPlaceIsTold429 through connections, as clients see it.
func TestAQuestionOfOneWhoLeftFreesItsPlaceAndOneWithoutAPlaceIsTold429(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	c := New(Deps{Logger: log})
	c.questions.wait = 50 * time.Millisecond
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: Fail(log)})
	endless := c.questions.answer(func(ctx *fiber.Ctx) (any, error) {
		<-ctx.UserContext().Done()
		return nil, context.Cause(ctx.UserContext())
	})
	app.Get("/endless", c.route(func(ctx *fiber.Ctx) (any, error) {
		ctx.Locals(principalKey{}, asksMuch)
		return endless(ctx)
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	t.Cleanup(func() { _ = app.ShutdownWithTimeout(5 * time.Second); <-served })
	var clients []net.Conn
	for range questionsAtATime {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err == nil {
			_, err = io.WriteString(client, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	comesAbout(t, "asking", func() bool { return c.questions.users(asksMuch) == questionsAtATime })
	response, err := http.Get("http://" + listener.Addr().String() + "/endless")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var told openapi.Error
	if err := json.NewDecoder(response.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 429 || told.Code != 42901 || response.Header.Get("Retry-After") != "2" {
		t.Errorf("one too many: %d, Retry-After %q, %+v", response.StatusCode, response.Header.Get("Retry-After"), told)
	}
	for _, client := range clients {
		_ = client.Close()
	}
	comesAbout(t, "leaving", func() bool { return c.questions.count() == 0 })
}
