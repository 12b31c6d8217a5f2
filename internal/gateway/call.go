package gateway

import (
	"context"
	"encoding/hex"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// keptBody is how much of a request body is kept for a failure's detail, in bytes: one more than
// may be stored, so that a longer one is told from one that just fits.
const keptBody = 16_385

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
	uncut        cause = iota
	clientGone         // the caller closed its connection
	tooSlow            // the upstream, for a timeout
	callerSlow         // the caller: it sends nothing of its body, or reads nothing of the answer
	tooLong            // the request body outgrew the limit
	malformed          // the request body's chunks are no chunks
	shuttingDown       // the process ends
)

// call is one attributed call from the moment its key was recognised until its record is made.
type call struct {
	gateway *Gateway
	ctx     *fasthttp.RequestCtx
	client  net.Conn
	start   time.Time
	id      uuid.UUID

	// What was asked.
	head       requestHead
	path       []byte // after the prefix
	query      []byte
	accessKey  string
	grant      *access.Grant
	capability *access.Capability // nil until the model was found to name one
	restQuery  []byte             // the query without its model pairs

	share *share     // of the application
	place *poolShare // of its share, what the call uses of a pool; nil while it uses none

	request requestBody
	relay   relay
	secret  string // the upstream key

	// What came of it.
	answer        answerHead
	firstByte     time.Duration // negative until the upstream answered
	responseBytes int64
	copied        []byte // bounded copy of an upstream's error answer
	streamed      bool
	relaying      bool // the server has the answer's body, and closes it

	// progress changes whenever bytes move in either direction: the sweeper tells silence by it, so
	// that no clock is read on the way. Its lowest bits say that the caller is waited for.
	progress atomic.Uint32

	mu     sync.Mutex // guards what the sweeper may touch
	phase  phase
	cause  cause
	conn   *upstreamConn      // in use by this call
	cancel context.CancelFunc // of a dial in progress
	ended  bool

	// Owned by the sweeper.
	next, previous *call
	seen           uint32
	changed        time.Time // when progress was last seen to change
	armed          uint64    // token under which the socket is watched, 0: not
}

// idleCalls are the calls that ended, for reuse: a call's own memory is most of what it needs.
var idleCalls = sync.Pool{New: func() any { return new(call) }}

func takeCall() *call { return idleCalls.Get().(*call) }

// maxIdleBody bounds the memory for a request body that an ended call holds on to, in bytes.
const maxIdleBody = 4 << 10

// release gives the memory of an ended call to the next one; nobody may have a hold of it any more.
func (c *call) release() {
	spare := c.request.spare
	if kept := c.request.kept; kept != nil && cap(kept) <= maxIdleBody {
		spare = kept[:0]
	}
	*c = call{request: requestBody{spare: spare}}
	idleCalls.Put(c)
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

// lift takes away the deadline that the server set on the caller's connection for the head: what
// follows may take as long as it moves, and the sweeper sees to those that stall. A cut stays.
func (c *call) lift() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == uncut {
		_ = c.client.SetReadDeadline(time.Time{})
	}
}

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

// leave takes the connection away from the sweeper's reach: after it, no deadline can be set on it
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

// lastWords is how long an upstream whose caller has closed first may take to end a response that
// is complete so far: SDKs close after [DONE], without waiting for the end of the body.
const lastWords = 100 * time.Millisecond

func (c *call) cutLocked(why cause) {
	if c.cause != uncut || c.ended {
		return
	}
	c.cause = why
	if c.cancel != nil {
		c.cancel()
	}
	if c.phase == relaying && why == clientGone {
		end := time.Now().Add(lastWords)
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

// nameIn tells the caller the call's id.
func (c *call) nameIn(h *fasthttp.ResponseHeader) {
	var buffer [36]byte // a UUID in text
	text := buffer[:0]
	for _, group := range [...][]byte{c.id[:4], c.id[4:6], c.id[6:8], c.id[8:10], c.id[10:]} {
		if len(text) > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, group)
	}
	h.SetBytesV("X-Call-Id", text)
}

// outcome is how a call ended, as the record has it.
type outcome struct {
	status  int
	success bool
	endedBy calls.EndedBy
	kind    calls.ReasonType
	code    calls.ReasonCode
	message string // our own sentence for the failure's detail
}

// finish ends the call: it leaves the sweeper, and its one record is handed over. Only the first
// call of it counts.
func (c *call) finish(o outcome) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended = true
	c.mu.Unlock()
	defer c.gateway.sweeper.remove(c) // last: a shutdown waits until no call is left there
	duration := time.Since(c.start)
	record := calls.TakeRecord()
	*record = calls.Record{
		ApplicationID: c.grant.ApplicationID,
		UserID:        c.grant.OwnerID,
		CallID:        c.id,
		Start:         c.start,
		Duration:      duration,
		StatusCode:    o.status,
		Success:       o.success,
		Streamed:      c.streamed,
		FirstByte:     c.firstByte,
		EndedBy:       o.endedBy,
		ReasonType:    o.kind,
		ReasonCode:    o.code,
		UpstreamCode:  c.answer.status,
		RequestBytes:  c.request.size.Load(),
		ResponseBytes: c.responseBytes,
	}
	if c.capability != nil {
		record.Model = c.capability.ID
	}
	if !o.success {
		record.Unredacted = c.unredacted(o)
	}
	c.gateway.metrics.ended(record)
	c.request.release(c.gateway)
	c.takePlace(nil)
	c.share.leave()
	c.gateway.config.Record(record)
}

// dismiss ends what never was a call: it leaves the sweeper, and no record is made.
func (c *call) dismiss() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.share.leave()
	c.gateway.sweeper.remove(c)
}

// unredacted is what the detail of a failed call is made of, after the call and beside it. The kept
// bodies are handed over.
func (c *call) unredacted(o outcome) *calls.FailureInput {
	input := &calls.FailureInput{
		Message:     o.message,
		Method:      string(c.ctx.Method()),
		Path:        string(c.path),
		RawQuery:    string(c.query),
		Body:        c.request.kept,
		BodyBytes:   c.request.size.Load(),
		FullyRead:   c.request.complete.Load(),
		ContentType: string(c.head.contentType),
		Secrets:     c.secrets(),
	}
	c.request.kept = nil
	if o.code == calls.UpstreamStatus {
		input.UpstreamBody = c.copied
		input.UpstreamContentType = string(c.ctx.Response.Header.ContentType())
		input.UpstreamEncoding = string(c.ctx.Response.Header.ContentEncoding())
	}
	return input
}

// secrets are the exact values that must not be shown to a developer.
func (c *call) secrets() []string {
	secrets := []string{c.accessKey}
	if c.secret != "" {
		secrets = append(secrets, c.secret)
	}
	if c.capability != nil {
		secrets = append(secrets, c.capability.UpstreamBaseURL)
		if t, err := c.gateway.upstreams.target(c.capability.UpstreamBaseURL); err == nil {
			secrets = append(secrets, t.host)
		}
	}
	return secrets
}
