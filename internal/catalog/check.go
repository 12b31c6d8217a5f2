package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
	"callgate/internal/secret"
	"callgate/internal/upstream"
)

// checkTimeout bounds a whole connection check: reasoning models think before they answer.
const checkTimeout = 25 * time.Second

// Stage is how far a connection check came.
type Stage string

// The stages of a check, in their order.
const (
	StageDNS     Stage = "dns"
	StageConnect Stage = "connect"
	StageTLS     Stage = "tls"
	StageHTTP    Stage = "http"
)

// CheckRequest names the upstream to try. With ID, a nil field stands for what is stored, and so does
// an empty key.
type CheckRequest struct {
	ID              *string
	DefaultPath     *string
	UpstreamAuth    *string
	UpstreamBaseURL *string
	UpstreamKey     *string
	UpstreamModel   *string
}

// CheckResult tells what a check met. Message is our own sentence: an upstream's words are not
// repeated, for it may repeat the key.
type CheckResult struct {
	OK         bool  // a 2xx answer
	Stage      Stage // the last one entered
	Status     int   // of the upstream's answer; 0 without one
	DurationMs int64
	Message    string
}

// Check sends one smallest request, in the style of the default path, to the upstream, within 25
// seconds. A stored key is sent to the origin it was saved for only, and its use recorded with actor.
func (s *Store) Check(ctx context.Context, actor string, r CheckRequest) (CheckResult, error) {
	settings := Settings{UpstreamBaseURL: r.UpstreamBaseURL, UpstreamAuth: r.UpstreamAuth, UpstreamKey: r.UpstreamKey,
		UpstreamModel: r.UpstreamModel, DefaultPath: r.DefaultPath}
	wrong := settings.check(s.allowPrivate)
	if err := wrong.Err(); err != nil {
		return CheckResult{}, err
	}
	target := Details{UpstreamAuth: "bearer"}
	key := ""
	if settings.newKey() {
		key = *settings.UpstreamKey
	}
	if r.ID != nil {
		if err := s.fillStored(ctx, actor, *r.ID, settings, &target, &key); err != nil {
			return CheckResult{}, err
		}
	}
	settings.apply(&target)
	if target.UpstreamBaseURL == "" {
		wrong.Add("upstreamBaseUrl", "is required")
	}
	if key == "" {
		wrong.Add("upstreamKey", "is required: there is no stored one")
	}
	if err := wrong.Err(); err != nil {
		return CheckResult{}, err
	}
	return s.try(ctx, target, key), nil
}

// fillStored reads the stored capability, if there is one, into target, and its key when none is
// given; address and key are of one state, so that no key goes to the host of another.
func (s *Store) fillStored(ctx context.Context, actor, id string, given Settings, target *Details, key *string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		stored, err := getDetails(ctx, tx, id, `FOR SHARE OF c`)
		if fault.KindOf(err) == fault.NotFound {
			return nil // a capability about to be created
		}
		if err != nil {
			return err
		}
		*target = stored
		if *key != "" {
			return nil
		}
		given.apply(&stored)
		if err := errors.Join(checkKept(*target, stored, false), checkSentTo(*target, stored, false)); err != nil {
			return err
		}
		var sealed []byte
		if err := tx.QueryRow(ctx, `SELECT upstream_key FROM capabilities WHERE id = $1`, id).Scan(&sealed); err != nil {
			return fmt.Errorf("read upstream key: %w", err)
		}
		plain, err := s.ring.Open(sealed, secret.UpstreamKeyContext(id))
		if err != nil {
			return fmt.Errorf("upstream key of capability %s: %w", id, err)
		}
		*key = string(plain)
		entry := capabilityEntry(actor, "capability.check", stored)
		entry.Changes = audit.Changes{{Field: "sentTo", To: stored.UpstreamBaseURL}}
		return audit.Append(ctx, tx, entry)
	})
}

// try makes the request; whatever goes wrong is the result.
func (s *Store) try(ctx context.Context, target Details, key string) CheckResult {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var stage atomic.Value // connections are tried side by side
	stage.Store(StageDNS)
	answer := func(r CheckResult) CheckResult {
		r.Stage = stage.Load().(Stage)
		r.DurationMs = time.Since(began).Milliseconds()
		return r
	}
	request, err := probe(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart:      func(string, string) { stage.CompareAndSwap(StageDNS, StageConnect) },
		TLSHandshakeStart: func() { stage.Store(StageTLS) },
		GotConn:           func(httptrace.GotConnInfo) { stage.Store(StageHTTP) },
	}), target)
	if err != nil {
		return answer(CheckResult{Message: "no request can be made from these settings"})
	}
	authorize(request.Header, target.UpstreamAuth, key)
	transport := &http.Transport{
		DialContext:            upstream.Dialer{AllowPrivate: s.allowPrivate}.DialContext,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 64 << 10,
		// The gateway speaks HTTP/1.1 to upstreams, so that is what is checked.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	response, err := transport.RoundTrip(request) // redirects are not followed, as in the gateway
	if err != nil {
		return answer(CheckResult{Message: whyNot(err, stage.Load().(Stage))})
	}
	_ = response.Body.Close()
	return answer(CheckResult{
		OK:      response.StatusCode >= 200 && response.StatusCode < 300,
		Status:  response.StatusCode,
		Message: meaning(response.StatusCode),
	})
}

// probe is the smallest request that the path's interface answers.
func probe(ctx context.Context, target Details) (*http.Request, error) {
	path := strings.TrimRight(target.DefaultPath, "/")
	body := map[string]any{"model": target.UpstreamModel}
	const prompt = "Reply with OK."
	messages := []map[string]string{{"role": "user", "content": prompt}}
	switch {
	case path == "" || strings.HasSuffix(path, "/models"):
		return http.NewRequestWithContext(ctx, http.MethodGet, target.UpstreamBaseURL+target.DefaultPath, nil)
	case strings.HasSuffix(path, "/embeddings"), strings.HasSuffix(path, "/moderations"):
		body["input"] = prompt
	case strings.HasSuffix(path, "/responses"):
		body["input"], body["max_output_tokens"] = prompt, 16 // the least that interface takes
	case strings.HasSuffix(path, "/completions") && !strings.HasSuffix(path, "/chat/completions"):
		body["prompt"], body["max_tokens"] = prompt, 1
	case strings.HasSuffix(path, "/messages"):
		body["messages"], body["max_tokens"] = messages, 1 // that interface demands a limit
	default:
		// No limit: reasoning models refuse max_tokens, older servers max_completion_tokens. The
		// prompt keeps the answer short.
		body["messages"] = messages
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.UpstreamBaseURL+target.DefaultPath,
		bytes.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if strings.HasSuffix(path, "/messages") {
		request.Header.Set("anthropic-version", "2023-06-01") // refused without it
	}
	return request, nil
}

func authorize(header http.Header, style, key string) {
	if style == "bearer" {
		header.Set("Authorization", "Bearer "+key)
		return
	}
	header.Set(style, key)
}

// whyNot says what kept an answer from coming, in words that repeat nothing of the error.
func whyNot(err error, stage Stage) string {
	switch {
	case errors.Is(err, upstream.ErrForbiddenAddress):
		return "The host resolves to an address that is not public; this installation does not call those."
	case errors.Is(err, context.DeadlineExceeded):
		return map[Stage]string{
			StageDNS:     "The host name was not resolved in time.",
			StageConnect: "The host did not accept a connection in time.",
			StageTLS:     "The TLS handshake did not end in time.",
			StageHTTP:    "The upstream took the request but did not answer in time.",
		}[stage]
	}
	return map[Stage]string{
		StageDNS:     "The host name cannot be resolved.",
		StageConnect: "The host does not accept connections on this port.",
		StageTLS:     "The TLS handshake failed: the certificate is not valid for this host, or the port does not speak TLS.",
		StageHTTP:    "The upstream closed the connection or did not answer in HTTP.",
	}[stage]
}

func meaning(status int) string {
	text := cmp.Or(http.StatusText(status), "no standard meaning")
	switch {
	case status >= 200 && status < 300:
		return "The upstream answered the test request."
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("The upstream refused the key (%d %s).", status, text)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("The upstream does not know this path or model (%d %s).", status, text)
	case status == http.StatusTooManyRequests:
		return fmt.Sprintf("The upstream was reached but limits its calls now (%d %s).", status, text)
	case status >= 300 && status < 400:
		return fmt.Sprintf("The upstream redirects elsewhere (%d %s); redirects are not followed.", status, text)
	case status >= 500:
		return fmt.Sprintf("The upstream was reached but failed (%d %s).", status, text)
	}
	return fmt.Sprintf("The upstream was reached but did not take the test request (%d %s).", status, text)
}

// checkSentTo demands the key for a check against another scheme, host or port: a check is not told to anybody else,
// and would hand the stored key to whatever host it names.
func checkSentTo(before, after Details, newKey bool) error {
	if !keyMoves(before, after, newKey) {
		return nil
	}
	return fault.InvalidFields(map[string]string{
		"upstreamKey": "enter the key again: the stored one is sent only to the scheme, host and port it was saved for",
	})
}
