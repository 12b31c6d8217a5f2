package console

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/semaphore"

	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/stats"
)

// What one account, or administrator, can take of the connections to ClickHouse: a page asks up to a dozen questions at
// once, the others wait their turn.
const (
	questionsAtATime = 6
	questionsWaiting = 24
	questionWait     = 5 * time.Second

	// Previews of alerts read calls of a month: they take turns, beside the other questions.
	previewsAtATime = 1
	previewsWaiting = 3

	// presence is how often it is looked whether a client is still there for whom a question is being answered.
	presence = 250 * time.Millisecond
)

var errClientLeft = errors.New("the client has left")

// questions counts, in this process, the questions to the statistics that are under way for each account.
type questions struct {
	atATime, waiting int
	wait             time.Duration

	mu sync.Mutex
	of map[string]*asking
}

type asking struct {
	users       int // places taken or waited for
	places      *semaphore.Weighted
	connections *semaphore.Weighted // that they share
}

func newQuestions(atATime, waiting int) *questions {
	return &questions{atATime: atATime, waiting: waiting, wait: questionWait, of: map[string]*asking{}}
}

// admit waits for the place of a question, to be released once; TooManyAttempts when there is none within a while.
func (q *questions) admit(ctx context.Context, who identity.Principal) (connections *semaphore.Weighted, release func(), err error) {
	tooMany := &fault.Error{Kind: fault.TooManyAttempts, RetryAfter: retrySoon,
		Message: "your account is already asking as many questions of the statistics as it may at a time; try again shortly"}
	key := callerOf(who)
	q.mu.Lock()
	a := q.of[key]
	if a == nil {
		a = &asking{places: semaphore.NewWeighted(int64(q.atATime)), connections: semaphore.NewWeighted(stats.ConnectionsOfOne)}
		q.of[key] = a
	}
	if a.users >= q.atATime+q.waiting {
		q.mu.Unlock()
		return nil, nil, tooMany
	}
	a.users++
	q.mu.Unlock()
	leave := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if a.users--; a.users == 0 {
			delete(q.of, key)
		}
	}
	waited, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	if err := a.places.Acquire(waited, 1); err != nil {
		leave()
		if ctx.Err() != nil {
			return nil, nil, unavailable(context.Cause(ctx))
		}
		return nil, nil, tooMany
	}
	return a.connections, func() { a.places.Release(1); leave() }, nil
}

// answer answers what asks the statistics, as one of these that the account may have at a time. One whose client leaves ends.
func (q *questions) answer(next handler) handler {
	return func(ctx *fiber.Ctx) (any, error) {
		asked, done := whilePresent(ctx.UserContext(), ctx.Context().Conn())
		defer done()
		connections, release, err := q.admit(asked, principal(ctx))
		var data any
		if err == nil {
			defer release()
			ctx.SetUserContext(stats.Share(asked, connections))
			data, err = next(ctx)
		}
		if err != nil && errors.Is(context.Cause(asked), errClientLeft) {
			ctx.Context().SetConnectionClose()
			return written, nil // to nobody
		}
		return data, err
	}
}

// whilePresent gives a context that ends when the client of a connection has left, and what ends the looking.
func whilePresent(ctx context.Context, conn net.Conn) (context.Context, func()) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	looking := time.AfterFunc(presence, func() {
		for ctx.Err() == nil {
			if left(socket) {
				cancel(errClientLeft)
			}
			select {
			case <-ctx.Done():
			case <-time.After(presence):
			}
		}
	})
	return ctx, func() { looking.Stop(); cancel(nil) }
}

// left tells whether the other side of a socket has closed it. Nothing is taken from it.
func left(socket syscall.Conn) (gone bool) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = err == nil && n == 0 || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	})
	return gone || err != nil
}
