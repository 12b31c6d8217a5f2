package identity

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

const (
	outboxSize    = 1000 // letters waiting
	outboxWorkers = 4
	firstRetry    = time.Second
	longestRetry  = 30 * time.Second
	// longestHold is how long a letter may lie before it goes out, by chance: sending one takes processor
	// time, which must not show in the very next answer to whoever asked for it.
	longestHold = 300 * time.Millisecond
)

// letter is one mail: a login code, or a notice of its own words.
type letter struct {
	request  context.Context // that asked for it, for the log
	audience Audience
	to, code string
	notice   *notice // nil: a login code
	silent   bool    // to an address that may not sign in: all the work of a mail, but none is sent
	due      time.Time
	deadline time.Time
}

type notice struct{ subject, text string }

func (l letter) kind() string {
	if l.notice != nil {
		return "a notice"
	}
	return "a login code"
}

// outbox sends letters off the request path: how long the mail server takes must neither keep the
// caller waiting nor show whether a mail was sent. It is in memory only, since a lost code is asked
// for again after a minute, and a stored one would lie readable in the database.
type outbox struct {
	mailer *Mailer
	log    *slog.Logger

	mu      sync.Mutex // guards closed and sending on letters
	closed  bool
	letters chan letter

	workers sync.WaitGroup
	ctx     context.Context
	abandon context.CancelFunc
}

func newOutbox(mailer *Mailer, log *slog.Logger) *outbox {
	o := &outbox{mailer: mailer, log: log, letters: make(chan letter, outboxSize)}
	o.ctx, o.abandon = context.WithCancel(context.Background())
	for range outboxWorkers {
		o.workers.Go(func() {
			for l := range o.letters {
				o.hold(l)
				o.deliver(l)
			}
		})
	}
	return o
}

// offer queues a letter, or returns false when the queue is full or closed.
func (o *outbox) offer(l letter) bool {
	now := time.Now()
	l.due = now.Add(rand.N(longestHold)) //nolint:gosec // chance, not a secret
	l.deadline = now.Add(codeTTL)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	select {
	case o.letters <- l:
		return true
	default:
		o.log.ErrorContext(l.request, "the mail queue is full; "+l.kind()+" was not sent", "size", outboxSize)
		return false
	}
}

// hold waits until the letter is due.
func (o *outbox) hold(l letter) {
	select {
	case <-o.ctx.Done():
	case <-time.After(time.Until(l.due)):
	}
}

// deliver tries until it is done, refused for good, or the code has expired.
func (o *outbox) deliver(l letter) {
	ctx, cancel := context.WithDeadline(o.ctx, l.deadline)
	defer cancel()
	domain := l.to[strings.LastIndexByte(l.to, '@')+1:]
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		err := o.mailer.send(ctx, l)
		if err == nil {
			return
		}
		if ctx.Err() != nil || permanent(err) {
			o.log.ErrorContext(l.request, l.kind()+" could not be mailed", "domain", domain, "error", err)
			return
		}
		o.log.WarnContext(l.request, l.kind()+" could not be mailed yet", "domain", domain, "error", err, "retryIn", wait)
		select {
		case <-ctx.Done():
			o.log.ErrorContext(l.request, l.kind()+" was not mailed in time", "domain", domain)
			return
		case <-time.After(wait):
		}
	}
}

// close takes no more letters and sends those it has until ctx is done. A delivery that hangs in the
// mail server's silence then is left to its own timeout.
func (o *outbox) close(ctx context.Context) {
	o.mu.Lock()
	if !o.closed {
		o.closed = true
		close(o.letters)
	}
	o.mu.Unlock()
	sent := make(chan struct{})
	go func() { o.workers.Wait(); close(sent) }()
	select {
	case <-sent:
	case <-ctx.Done():
	}
	o.abandon()
}
