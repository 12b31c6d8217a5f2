package identity

import (
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"callgate/internal/fault"
)

// timed is how long each of two things took, tried in turns, so that what else the machine does
// falls on both alike.
type timed struct{ listed, unlisted []time.Duration }

func (t *timed) add(listed bool, took time.Duration) {
	if listed {
		t.listed = append(t.listed, took)
	} else {
		t.unlisted = append(t.unlisted, took)
	}
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// differ tells two medians apart when one is half as much again as the other. Less is not told from
// noise here: the mail server shares this process, and hears more of a mail that is sent. Where a
// mail is under way for only one of the two, a wrong code takes two to three times as long.
func (t *timed) differ() bool {
	a, b := median(t.listed), median(t.unlisted)
	return 2*max(a, b) > 3*min(a, b)
}

// quiet takes every mail and looks at none: what a mail server in the test's own process does with
// one must not show in the measurement.
type quiet struct{}

func (quiet) Mail(string, *smtp.MailOptions) error { return nil }
func (quiet) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (quiet) Data(r io.Reader) error               { _, err := io.Copy(io.Discard, r); return err }
func (quiet) Reset()                               {}
func (quiet) Logout() error                        { return nil }

// startSMTP is a mail server whose sessions are all the same.
func startSMTP(t *testing.T, begin smtp.BackendFunc) (smtpURL string) {
	t.Helper()
	server := smtp.NewServer(begin)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); _ = listener.Close(); <-served })
	return "smtp://" + listener.Addr().String()
}

func TestListedAndUnlistedAdministratorsTakeTheSameTime(t *testing.T) {
	const rounds = 150
	emails := make([]string, rounds)
	for i := range emails {
		emails[i] = fmt.Sprintf("root-%03d@example.com", i)
	}
	w := newWorld(t, func(c *Config) { c.AdminEmails = emails })
	w.at(startSMTP(t, func(*smtp.Conn) (smtp.Session, error) { return quiet{}, nil }))
	measure := func() (codes, tries timed) {
		for i, email := range emails {
			// Which one comes first changes, and every client is another one.
			for _, listed := range []bool{i%2 == 0, i%2 != 0} {
				address, client := email, fmt.Sprintf("198.51.100.%d", i)
				if !listed {
					address, client = "no-"+email, fmt.Sprintf("192.0.2.%d", i)
				}
				start := time.Now()
				if err := w.SendCode(t.Context(), Admin, address, Program(client)); err != nil {
					t.Fatal(err)
				}
				codes.add(listed, time.Since(start))
				start = time.Now()
				_, err := w.LogIn(t.Context(), Admin, address, "not it", Program(client), agent)
				tries.add(listed, time.Since(start))
				wantKind(t, err, fault.BadCredential)
			}
		}
		return codes, tries
	}
	// One measurement of three may be spoilt by the machine; a way to tell them would spoil all.
	for attempt := 1; ; attempt++ {
		codes, tries := measure()
		t.Logf("medians of %d, listed and unlisted: asking for a code %v and %v, a wrong code %v and %v", rounds,
			median(codes.listed), median(codes.unlisted), median(tries.listed), median(tries.unlisted))
		if !codes.differ() && !tries.differ() {
			return
		}
		if attempt == 3 {
			t.Fatal("listed and unlisted addresses can be told apart")
		}
		w.pass(time.Hour)
	}
}
