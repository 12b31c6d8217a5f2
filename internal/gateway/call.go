package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/budget"
	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/limits"
	"callgate/internal/meter"
	"callgate/internal/traces"
)

// phase is where a call is; it says which timeout counts and what is cut to end it.
type phase uint8

const (
	receiving phase = iota // reading the request
	waiting                // for the upstream's response head
	relaying               // response bytes to the caller
)

// cause is why a call was cut from outside its own goroutine; the first one stays.
type cause uint8

const (
	uncut            cause = iota
	clientGone             // the caller closed its connection
	tooSlow                // the upstream, for a timeout
	callerSlow             // the caller: it sends nothing of its body, or reads nothing of the answer
	tooLong                // the request body outgrew the limit
	malformed              // the request body's chunks are no chunks
	shuttingDown           // the process ends
	applicationEnded       // an administrator disabled it, and its calls with it
	capabilityEnded        // likewise
)

// call is one attributed call from the moment its key was recognised until its record is made.
type call struct {
	gateway *Gateway
	x       *http1.Exchange
	client  *http1.Conn
	start   time.Time
	id      uuid.UUID

	// What was asked. The slices point into text: the buffer the head was read into serves the body next.
	text        []byte
	method      string
	address            // path, query and what the path names
	restQuery   []byte // the query without its model pairs
	key         []byte // the Access Key
	keyIn       string // the header that carried it, when that is not Authorization
	contentType []byte
	shown       bool
	cors        string // header lines of the answer for the origin that the call comes from
	trace       traces.Context
	dimensions
	grant      *access.Grant
	capability *access.Capability                // nil until the model was found to name one
	named      atomic.Pointer[access.Capability] // the same, for those who end its calls

	share  *share         // of the application
	limits *limits.Scopes // what the call is counted in; nil where nothing limits it
	ticket limits.Ticket  // what the call took of them
	bill   budget.Ticket  // of the budgets that it is charged to
	place  *poolStake     // of its owner, what the call uses of a pool; nil while it uses none

	request     requestBody
	attempt                         // the last one, or the one to be made
	attempts    int                 // made; 0: the call was refused before
	former      []byte              // the upstream key of the attempt before
	failedFirst calls.FailedAttempt // the attempt before the last

	// What came of it.
	responseBytes int64
	tail          int // bytes of framing written behind the last byte of the body
	errorAnswer   errorAnswer
	meter         *meter.Reader // reads the answer; nil: it is not looked at
	passed        int64         // about how many tokens the answer's text is worth
	streamed      bool
	awaits        bool             // recordAnswered is still to be called
	afterwards    func(bool)       // recordAnswered, made once for all uses of this memory
	budget        func(int64) bool // reserveForUsage, likewise

	// progress changes whenever bytes move in either direction: the supervisor tells silence by it, so
	// that no clock is read on the way. Its lowest bits say that the caller is waited for.
	progress atomic.Uint32

	mu       sync.Mutex // guards what the supervisor may touch
	phase    phase
	cause    cause
	conn     *upstreamConn      // in use by this call
	cancel   context.CancelFunc // of a dial in progress
	ended    bool               // nothing is cut any more
	recorded bool
	hurried  bool // the caller's connection has a deadline

	// Owned by the supervisor.
	next, previous *call
	seen           uint32
	changed        time.Time // when progress was last seen to change
	armed          uint64    // token under which the socket is watched, 0: not
}

// idleCalls are the calls that ended, for reuse: a call's own memory is most of what it needs.
var idleCalls sync.Pool

func takeCall() *call {
	if c, ok := idleCalls.Get().(*call); ok {
		return c
	}
	c := new(call)
	c.afterwards, c.budget = c.recordAnswered, c.reserveForUsage
	return c
}

// What an ended call holds on to for the next one, in bytes.
const (
	maxIdleBody = 4 << 10
	maxIdleText = 1 << 10
)

// release gives the memory of an ended call to the next one; nobody may have a hold of it any more.
func (c *call) release() {
	giveHead(c.out)
	spare, text := c.request.spare, c.text
	if kept := c.request.kept; kept != nil && cap(kept) <= maxIdleBody {
		spare = kept[:0]
	}
	if cap(text) > maxIdleText {
		text = nil
	}
	*c = call{request: requestBody{spare: spare}, text: text[:0], afterwards: c.afterwards, budget: c.budget}
	idleCalls.Put(c)
}

// keep copies what is needed of the head after the bytes of the connection went on.
func (c *call) keep(head *requestHead) {
	text := append(append(append(c.text[:0], head.target...), head.key...), head.contentType...)
	target, rest := text[:len(head.target)], text[len(head.target):]
	c.text, c.key, c.contentType = text, rest[:len(head.key)], rest[len(head.key):]
	c.keyIn = head.keyIn
	c.address, _ = splitTarget(target)
	c.method = methodOf(c.x.Method())
	c.shown = head.shown
	if head.dimensions {
		c.dimensions = c.gateway.readDimensions(&c.x.Request, head.key)
	}
}

// Steps of progress. Those that begin to wait for the caller set a bit, those that end it clear it
// and count on.
const (
	moved     = 4
	toWrite   = 1 // an answer is being written to the caller
	written   = moved - toWrite
	toReceive = 2 // the rest of the body is being read from the caller
	received  = moved - toReceive
)

// awaitsCaller tells whether progress says that the caller is waited for.
func awaitsCaller(progress uint32) bool { return progress&(toWrite|toReceive) != 0 }

// enter moves to a phase and restarts its timeout. It reports whether the call was not cut meanwhile.
func (c *call) enter(p phase) bool {
	c.progress.Add(moved)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
	return c.cause == uncut
}

// use makes conn the connection that a cut closes. It reports false when the call was cut before.
func (c *call) use(conn *upstreamConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	c.cancel = nil
	return c.cause == uncut
}

// leave takes the connection away from the supervisor's reach: after it, no deadline can be set on it
// by a late cut. It reports whether none was.
func (c *call) leave() (clean bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = nil
	return c.cause == uncut
}

func (c *call) cut(why cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutLocked(why)
}

// past is a deadline that ends every read and write at once.
var past = time.Unix(1, 0)

// closingGrace is how long an upstream whose caller has closed first may take to end a response that
// is complete so far: SDKs close after [DONE], without waiting for the end of the body.
const closingGrace = 100 * time.Millisecond

func (c *call) cutLocked(why cause) {
	if c.cause != uncut || c.ended {
		return
	}
	c.cause, c.hurried = why, true
	if c.cancel != nil {
		c.cancel()
	}
	if c.phase == relaying && why == clientGone {
		end := time.Now().Add(closingGrace)
		if c.conn != nil {
			_ = c.conn.SetReadDeadline(end)
		}
		_ = c.client.SetDeadline(end)
		return
	}
	if c.conn != nil {
		_ = c.conn.SetDeadline(past)
	}
	// The caller still gets our answer unless its response has begun.
	_ = c.client.SetReadDeadline(past)
	if c.phase == relaying {
		_ = c.client.SetWriteDeadline(past)
	}
}

func (c *call) why() cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// hurry sets a deadline for what is still read of the caller.
func (c *call) hurry(within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hurried = true
	if c.cause == uncut {
		_ = c.client.SetReadDeadline(time.Now().Add(within))
	}
}

// unhurry takes the deadlines from the connection of a call that was recorded and is still to be answered.
func (c *call) unhurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hurried {
		_ = c.client.SetDeadline(time.Time{})
	}
}
