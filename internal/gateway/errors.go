package gateway

import (
	"encoding/json"
	"io"
	"net"
	"strings"

	"github.com/valyala/fasthttp"

	"callgate/internal/calls"
)

// refusal is an answer of our own, in the shape of OpenAI's errors, so that stock SDKs raise the
// right exception (api.md, Gateway). The sentence is also the message of the failure's detail.
type refusal struct {
	status     int
	code       string // of the answer
	kind       string // OpenAI's error type
	message    string
	retryAfter string // seconds, for 503
	allow      string // methods, for 405
	reason     calls.ReasonType
	reasonCode calls.ReasonCode
	endedBy    calls.EndedBy
}

// The refusals of the table in design section 4.
var (
	refusedKey = refusal{status: 401, code: "invalid_api_key", kind: "authentication_error",
		message: "The Access Key is missing or not valid. Send it as a Bearer credential in the Authorization header."}
	refusedAccess = refusal{status: 503, code: "access_unavailable", kind: "server_error", retryAfter: "1",
		message: "The Access Key cannot be checked now. Try again shortly."}
	refusedStopping = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "This gateway is shutting down. Try again.", reason: calls.Overloaded, reasonCode: calls.CodeOverloaded}
	refusedMalformed = refusal{status: 400, code: "invalid_request", kind: "invalid_request_error",
		message: "The request headers are malformed or ambiguous."}

	refusedDisabled = refusal{status: 403, code: "application_disabled", kind: "permission_error",
		message: "The application is disabled.", reason: calls.PermissionDenied, reasonCode: calls.ApplicationDisabled}
	refusedUnknown = refusal{status: 403, code: "capability_not_allowed", kind: "permission_error",
		message: "No capability has the identifier given as model.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityUnknown}
	refusedOff = refusal{status: 403, code: "capability_not_allowed", kind: "permission_error",
		message: "The capability is disabled.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityDisabled}
	refusedUnbound = refusal{status: 403, code: "capability_not_allowed", kind: "permission_error",
		message: "The capability is not bound to the application.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityNotBound}
	refusedNoModel = refusal{status: 400, code: "model_required", kind: "invalid_request_error",
		message: "The query parameter model is required: the identifier of a capability.", reason: calls.InvalidRequest, reasonCode: calls.ModelRequired}
	refusedModels = refusal{status: 400, code: "model_required", kind: "invalid_request_error",
		message: "The query parameter model must be given once.", reason: calls.InvalidRequest, reasonCode: calls.ModelRequired}
	refusedPath = refusal{status: 400, code: "invalid_path", kind: "invalid_request_error",
		message: "The path must not contain a dot segment, a backslash, a control character or a malformed escape.",
		reason:  calls.InvalidRequest, reasonCode: calls.InvalidPath}
	refusedElsewhere = refusal{status: 400, code: "invalid_path", kind: "invalid_request_error",
		message: "The capability does not allow this path.", reason: calls.InvalidRequest, reasonCode: calls.InvalidPath}
	refusedShown = refusal{status: 400, code: "invalid_request", kind: "invalid_request_error",
		message: "The gateway is called by programs. Its answers cannot be opened in a browser, nor loaded as a script, style sheet, worker or frame.",
		reason:  calls.InvalidRequest, reasonCode: calls.CodeInvalidRequest}
	refusedMethod = refusal{status: 405, code: "invalid_request", kind: "invalid_request_error", allow: strings.Join(methods[:], ", "),
		message: "This method is not forwarded. Use " + strings.Join(methods[:len(methods)-1], ", ") + " or " + methods[len(methods)-1] + ".",
		reason:  calls.InvalidRequest, reasonCode: calls.CodeInvalidRequest}
	refusedLarge = refusal{status: 413, code: "request_too_large", kind: "invalid_request_error",
		message: "The request body is larger than allowed.", reason: calls.InvalidRequest, reasonCode: calls.RequestTooLarge}
	refusedChunks = refusal{status: 400, code: "invalid_request", kind: "invalid_request_error",
		message: "The chunked request body is malformed.", reason: calls.InvalidRequest, reasonCode: calls.CodeInvalidRequest}
	refusedBudget = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "The gateway has too many calls in flight. Try again shortly.", reason: calls.Overloaded, reasonCode: calls.CodeOverloaded}
	refusedShare = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "The application has too many calls in flight: what one application may use of the gateway is in use. Try again shortly.",
		reason:  calls.Overloaded, reasonCode: calls.CodeOverloaded}
	refusedPool = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "All connections to the upstream are in use. Try again shortly.", reason: calls.Overloaded, reasonCode: calls.CodeOverloaded}
	refusedInternal = refusal{status: 500, code: "internal_error", kind: "server_error",
		message: "The gateway failed to handle the call.", reason: calls.InternalFault, reasonCode: calls.CodeInternal}
	refusedUnreachable = refusal{status: 502, code: "upstream_unreachable", kind: "server_error", endedBy: calls.UpstreamAbort,
		message: "The upstream could not be reached or closed the connection before it answered.",
		reason:  calls.ConnectionFailed, reasonCode: calls.UpstreamUnreachable}
	refusedHTTP2 = refusal{status: 502, code: "upstream_unreachable", kind: "server_error", endedBy: calls.UpstreamAbort,
		message: "The upstream speaks HTTP/2 only. Capabilities are called over HTTP/1.1.",
		reason:  calls.ConnectionFailed, reasonCode: calls.UpstreamUnreachable}
	refusedAnswer = refusal{status: 502, code: "upstream_unreachable", kind: "server_error", endedBy: calls.UpstreamAbort,
		message: "The upstream's answer is malformed.", reason: calls.ConnectionFailed, reasonCode: calls.UpstreamUnreachable}
	refusedStalled = refusal{status: 408, code: "caller_timeout", kind: "invalid_request_error", endedBy: calls.TimedOut,
		message: "The request body did not arrive in time.", reason: calls.Timeout, reasonCode: calls.CallerTimeout}
	refusedHead = refusal{status: 431, code: "invalid_request", kind: "invalid_request_error",
		message: "The request line and headers are larger than 16 KB."}
	refusedTimeout = refusal{status: 504, code: "upstream_timeout", kind: "server_error", endedBy: calls.TimedOut,
		message: "The upstream did not answer in time.", reason: calls.Timeout, reasonCode: calls.UpstreamTimeout}
)

// body is the refusal as JSON.
func (r refusal) body() []byte {
	type fault struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Code    string  `json:"code"`
		Param   *string `json:"param"`
	}
	text, _ := json.Marshal(struct { // strings only: it cannot fail
		Error fault `json:"error"`
	}{fault{Message: r.message, Type: r.kind, Code: r.code}})
	return text
}

// answer writes the refusal into the response, with X-Callgate-Error, which no relayed answer has. A caller whose body was not read to its end gets it
// with the connection closed after: what is left of the body would be taken for the next request.
func (r refusal) answer(ctx *fasthttp.RequestCtx, bodyRead bool) {
	h := &ctx.Response.Header
	ctx.SetStatusCode(r.status)
	h.SetContentType("application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Callgate-Error", r.code)
	if r.status == 401 {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if r.retryAfter != "" {
		h.Set("Retry-After", r.retryAfter)
	}
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	text := r.body()
	if bodyRead {
		ctx.Response.SetBodyRaw(text)
		return
	}
	ctx.SetConnectionClose()
	if ctx.IsHead() {
		return
	}
	answerLast(ctx, text)
}

// answerLast makes text the body of the last answer on the connection.
func answerLast(ctx *fasthttp.RequestCtx, text []byte) {
	ctx.Response.SetBodyStream(&lastAnswer{text: text, client: ctx.Conn()}, len(text))
}

// lastAnswer is a body after which the connection is closed with care.
type lastAnswer struct {
	text   []byte
	client net.Conn
}

// Read is never used: fasthttp takes WriteTo.
func (*lastAnswer) Read([]byte) (int, error) { return 0, io.EOF }

// SupportsBodyWriteTo says that WriteTo does all that Read would.
func (*lastAnswer) SupportsBodyWriteTo() bool { return true }

// WriteTo writes the answer at once and then lets the caller finish sending.
func (a *lastAnswer) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(a.text)
	if f, ok := w.(interface{ Flush() error }); ok && err == nil {
		err = f.Flush()
	}
	if err == nil {
		linger(a.client)
	}
	return int64(n), err
}
