package gateway

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ErrNoCall is what Config.LookUpCall answers for a call that the application has not made, or that is not shipped yet.
var ErrNoCall = errors.New("no such call")

const (
	callsPath = "/v1/calls/"
	usagePath = "/v1/usage"
	// lookupsASecond bounds the questions about calls and limits that a key may ask in one second, lookupsOfOwner those
	// that all keys of an owner ask at a time, and lookupsAtOnce those of everybody: databases are asked.
	lookupsASecond = 5
	lookupsOfOwner = 2
	lookupsAtOnce  = 8
	lookupTimeout  = 5 * time.Second
)

// callAsked and usageAsked stand for the answers to questions about a call, and about limits, as modelsAsked does.
var callAsked, usageAsked refusal

var (
	refusedNoCall = refusal{status: 404, code: "call_not_found", kind: "invalid_request_error",
		message: "The application has made no call with this identifier, or it is not stored yet. Ask again a few seconds after the call has ended."}
	refusedOften = refusal{status: 429, code: "rate_limited", kind: "rate_limit_error", retryAfter: "1",
		message: "The Access Key asks about calls and limits more than 5 times a second. Try again in 1 s."}
	refusedUnreadable = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "2",
		message: "What is stored cannot be read at the moment. Try again in 2 s."}
)

// lookups bounds questions about calls and limits.
type lookups struct {
	places chan struct{}

	mu     sync.Mutex
	second int64
	asked  map[uuid.UUID]int // in that second, by key
	owners map[uuid.UUID]*queue
}

// queue is where the questions of an owner wait for each other.
type queue struct {
	places chan struct{}
	length int // those that are asked, and those that wait
}

func newLookups() *lookups {
	return &lookups{places: make(chan struct{}, lookupsAtOnce), owners: map[uuid.UUID]*queue{}}
}

// enter waits for one of an owner's places, which leave gives back; false: there was none in time.
func (l *lookups) enter(ctx context.Context, owner uuid.UUID) (leave func(), ok bool) {
	l.mu.Lock()
	q := l.owners[owner]
	if q == nil {
		q = &queue{places: make(chan struct{}, lookupsOfOwner)}
		l.owners[owner] = q
	}
	q.length++
	l.mu.Unlock()
	select {
	case q.places <- struct{}{}:
		ok = true
	case <-ctx.Done():
	}
	return func() {
		if ok {
			<-q.places
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if q.length--; q.length == 0 {
			delete(l.owners, owner)
		}
	}, ok
}

// allows counts a question of a key.
func (l *lookups) allows(key uuid.UUID, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Unix(); second != l.second || l.asked == nil {
		l.second, l.asked = second, map[uuid.UUID]int{}
	}
	l.asked[key]++
	return l.asked[key] <= lookupsASecond
}

// asksForCall tells whether a request that names no capability asks about a call, and about which one.
func (c *call) asksForCall() bool {
	_, ok := c.callOf()
	return ok && !c.via && c.gateway.config.LookUpCall != nil && (c.method == http.MethodGet || c.method == http.MethodHead) && !c.shown
}

func (c *call) callOf() (uuid.UUID, bool) {
	id, ok := bytes.CutPrefix(c.path, []byte(callsPath))
	if !ok || len(id) != len(uuid.Nil.String()) {
		return uuid.Nil, false
	}
	of, err := uuid.ParseBytes(id)
	return of, err == nil
}

// asksForUsage tells whether a request that names no capability asks for the limits of its key.
func (c *call) asksForUsage() bool {
	return string(c.path) == usagePath && !c.via && c.gateway.config.TellUsage != nil && (c.method == http.MethodGet || c.method == http.MethodHead) && !c.shown
}

// question asks a database for an answer.
type question func(ctx context.Context) ([]byte, error)

// callQuestion asks for what is kept of a call of the key's application, without what was sent.
func (c *call) callQuestion() question {
	id, _ := c.callOf()
	ask, application := c.gateway.config.LookUpCall, c.grant.ApplicationID
	return func(ctx context.Context) ([]byte, error) { return ask(ctx, application, id) }
}

// usageQuestion asks for what limits the key, and what is used of that.
func (c *call) usageQuestion() question {
	ask, application, owner, key := c.gateway.config.TellUsage, c.grant.ApplicationID, c.grant.OwnerID, c.grant.KeyID
	return func(ctx context.Context) ([]byte, error) { return ask(ctx, application, owner, key) }
}

// answerQuestion answers what is no call: nothing is recorded, and it gives back its place before a database is asked, so
// that a slow one holds up no call.
func (c *call) answerQuestion(ask question) (again bool) {
	c.request.drain()
	whole := c.request.complete.Load()
	again = whole && !c.x.Last()
	owner, key, old, head, cors := c.grant.OwnerID, c.grant.KeyID, c.x.Old, c.method == http.MethodHead, c.cors
	c.dismiss()
	text, refused := c.gateway.lookUp(owner, key, ask)
	out := make([]byte, 0, 1024)
	if refused != nil {
		out = refused.append(out, answering{again: again, old: old, head: head, cors: cors})
	} else {
		out = appendInt(append(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"+
			"X-Content-Type-Options: nosniff\r\nContent-Length: "...), int64(len(text)))
		out = append(append(out, "\r\n"...), cors...)
		out = append(appendConnection(out, again, old), "\r\n"...)
		if !head {
			out = append(out, text...)
		}
	}
	c.unhurry()
	_, err := c.client.Write(out)
	if err == nil && !whole {
		c.x.Linger()
	}
	return again && err == nil
}

// lookUp asks for a key, as often as it may.
func (g *Gateway) lookUp(owner, key uuid.UUID, ask question) ([]byte, *refusal) {
	if !g.lookups.allows(key, time.Now()) {
		return nil, &refusedOften
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	leave, ok := g.lookups.enter(ctx, owner)
	defer leave()
	if !ok {
		return nil, &refusedUnreadable
	}
	select {
	case g.lookups.places <- struct{}{}:
		defer func() { <-g.lookups.places }()
	default:
		return nil, &refusedUnreadable
	}
	text, err := ask(ctx)
	switch {
	case errors.Is(err, ErrNoCall):
		return nil, &refusedNoCall
	case err != nil:
		g.config.Logger.Warn("a question of a caller cannot be answered", "error", err)
		return nil, &refusedUnreadable
	}
	return text, nil
}
