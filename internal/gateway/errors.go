package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"callgate/internal/budget"
	"callgate/internal/calls"
	"callgate/internal/limits"
)

// refusal is an answer of our own, in the shape of the errors that the caller's client knows, so that stock
// SDKs raise the right exception and show its sentence. The sentence is also the message of the failure's detail.
type refusal struct {
	status     int
	code       string // of the answer
	kind       string // OpenAI's error type
	message    string
	retryAfter string        // seconds, for 503, and for 429 where waiting so long helps
	wait       time.Duration // of a limit, until it allows a call again: not only as long as waiting helps
	allow      string        // methods, for 405
	reason     calls.ReasonType
	reasonCode calls.ReasonCode
	endedBy    calls.EndedBy
}

// What the gateway refuses a call with.
var (
	refusedKey = refusal{status: 401, code: "invalid_api_key", kind: "authentication_error",
		message: "The Access Key is missing or not valid. Send it as a Bearer credential in the Authorization header, or as x-api-key, api-key or x-goog-api-key."}
	refusedKeys = refusal{status: 401, code: "invalid_api_key", kind: "authentication_error",
		message: "Two different Access Keys were sent. Send one: in Authorization, x-api-key, api-key or x-goog-api-key."}
	refusedAccess = refusal{status: 503, code: "access_unavailable", kind: "server_error", retryAfter: "1",
		message: "The Access Key cannot be checked now. Try again shortly."}
	refusedStopping = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "This gateway is shutting down. Try again.", reason: calls.Overloaded, reasonCode: calls.CodeOverloaded}
	refusedMalformed = refusal{status: 400, code: "invalid_request", kind: "invalid_request_error",
		message: "The request headers are malformed or ambiguous."}

	refusedExpired = refusal{status: 403, code: "key_expired", kind: "permission_error",
		message: "The Access Key has expired. Use another key of the application, or give this one a later end.",
		reason:  calls.PermissionDenied, reasonCode: calls.KeyExpired}
	refusedAddress = refusal{status: 403, code: "address_not_allowed", kind: "permission_error",
		message: "The Access Key may not be used from this network address.", reason: calls.PermissionDenied, reasonCode: calls.AddressNotAllowed}
	refusedDisabled = refusal{status: 403, code: "application_disabled", kind: "permission_error",
		message: "The application is disabled.", reason: calls.PermissionDenied, reasonCode: calls.ApplicationDisabled}
	refusedUnknown = refusal{status: 403, code: "capability_not_allowed", kind: "permission_error",
		message: "No capability has the identifier given as model.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityUnknown}
	refusedModel = refusal{status: 404, code: "model_not_found", kind: "invalid_request_error",
		message: "The Access Key may call no capability with this identifier."}
	refusedOff = refusal{status: 403, code: "capability_not_allowed", kind: "permission_error",
		message: "The capability is disabled.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityDisabled}
	refusedUnbound = refusal{status: 403, code: "capability_not_allowed", kind: "permission_error",
		message: "The capability is not bound to the application.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityNotBound}
	refusedNoModel = refusal{status: 400, code: "model_required", kind: "invalid_request_error",
		message: "The query parameter model is required: the identifier of a capability.", reason: calls.InvalidRequest, reasonCode: calls.ModelRequired}
	refusedModels = refusal{status: 400, code: "model_required", kind: "invalid_request_error",
		message: "The query parameter model must be given once.", reason: calls.InvalidRequest, reasonCode: calls.ModelRequired}
	refusedDiffers = refusal{status: 400, code: "model_required", kind: "invalid_request_error",
		message: "The query parameter model names another capability than the path. Leave it out: under /via/ the path names the capability.",
		reason:  calls.InvalidRequest, reasonCode: calls.ModelRequired}
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
	refusedMemory = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "The gateway has too many calls in flight. Try again shortly.", reason: calls.Overloaded, reasonCode: calls.CodeOverloaded}
	refusedShare = refusal{status: 503, code: "overloaded", kind: "server_error", retryAfter: "1",
		message: "The applications of one owner have too many calls in flight: what they may use of the gateway is in use. Try again shortly.",
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
	refusedLate = refusal{status: 408, code: "caller_timeout", kind: "invalid_request_error",
		message: "The request did not arrive in time."}
	refusedUpgrade = refusal{status: 426, code: "invalid_request", kind: "invalid_request_error",
		message: "Connections are not upgraded. Use HTTP without Upgrade; WebSocket is not supported."}
	refusedTimeout = refusal{status: 504, code: "upstream_timeout", kind: "server_error", endedBy: calls.TimedOut,
		message: "The upstream did not answer in time.", reason: calls.Timeout, reasonCode: calls.UpstreamTimeout}
)

// ended are the refusals of calls that ran and may not go on: where their answer has begun, what is recorded of its end.
var ended = map[cause]refusal{
	applicationEnded: {status: 403, code: "application_disabled", kind: "permission_error", endedBy: calls.Revoked,
		message: "An administrator disabled the application and ended its running calls.", reason: calls.PermissionDenied, reasonCode: calls.ApplicationDisabled},
	capabilityEnded: {status: 403, code: "capability_not_allowed", kind: "permission_error", endedBy: calls.Revoked,
		message: "An administrator disabled the capability and ended its running calls.", reason: calls.PermissionDenied, reasonCode: calls.CapabilityDisabled},
}

// isFinal tells whether the same request would be refused again. Stock clients retry some of these by themselves, 429
// above all, unless they are told not to.
func (r refusal) isFinal() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, statusTooLarge:
		return true
	}
	return r.code == limits.QuotaExhausted || r.code == budget.Exceeded || r.code == budget.CostUnknown
}

// What refusals have in common with the rest of the gateway.
const (
	statusTooLarge      = 413
	statusCallerTimeout = 408
)

// answering is how a refusal is answered.
type answering struct {
	id    []byte // of the call; empty when there is none
	again bool   // another request may follow on the connection
	old   bool   // the caller speaks HTTP/1.0
	head  bool   // it asked for a head only
	cors  string // header lines for the origin it calls from
	to    dialect

	limits []byte // header lines of the application's limits
}

// append makes the whole answer, with X-Callgate-Error, which no relayed answer has.
func (r refusal) append(out []byte, how answering) []byte {
	line := func(name, value string) {
		out = append(append(append(append(out, name...), ": "...), value...), "\r\n"...)
	}
	out = appendInt(append(out, "HTTP/1.1 "...), int64(r.status))
	out = append(append(append(out, ' '), http.StatusText(r.status)...), "\r\n"...)
	line("Content-Type", "application/json")
	line("Cache-Control", "no-store")
	line("X-Content-Type-Options", "nosniff")
	line("X-Callgate-Error", r.code)
	if len(how.id) > 0 {
		out = appendCallID(out, how.id)
	}
	if r.status == http.StatusUnauthorized {
		line("WWW-Authenticate", "Bearer")
	}
	if r.isFinal() {
		line("X-Should-Retry", "false")
	}
	if r.retryAfter != "" {
		line("Retry-After", r.retryAfter)
	}
	if r.allow != "" {
		line("Allow", r.allow)
	}
	if r.status == http.StatusUpgradeRequired { // it must say what to use instead, and belongs to this connection only
		line("Connection", "Upgrade")
		line("Upgrade", "HTTP/1.1")
	}
	out = append(append(out, how.cors...), how.limits...)
	text := r.body(how.to)
	line("Content-Length", strconv.Itoa(len(text)))
	out = append(appendConnection(out, how.again, how.old), "\r\n"...)
	if how.head {
		return out
	}
	return append(out, text...)
}
