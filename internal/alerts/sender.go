package alerts

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"callgate/internal/secret"
	"callgate/internal/upstream"
)

const (
	maxAnswer  = 4 << 10  // bytes of an answer that are looked at
	maxHeaders = 16 << 10 // of an answer
	userAgent  = "Callgate-Alerts/1"
)

// sender makes one attempt of a delivery.
type sender struct {
	ring          *secret.Keyring
	client        *http.Client
	timeout       time.Duration // of an attempt
	mail          func(ctx context.Context, to, subject, text string) error
	administrator func(email string) bool
	allowPrivate  bool
	now           func() time.Time
}

// newClient dials what upstreams may be, follows no redirect and uses no proxy of the environment. Connections are not kept: one
// owner's endpoint must not be reached over what another one's name has resolved to.
func newClient(allowPrivate bool, timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            upstream.Dialer{AllowPrivate: allowPrivate}.DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeaders,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		},
	}
}

// send makes the attempt.
func (s *sender) send(ctx context.Context, j job) result {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if j.Kind == Mail {
		return s.sendMail(ctx, j)
	}
	open := func(sealed []byte, context string) (string, error) {
		if sealed == nil {
			return "", nil
		}
		plain, err := s.ring.Open(sealed, context)
		return string(plain), err
	}
	id := j.Channel.String()
	address, bad := open(j.URL, secret.AlertURLContext(id))
	key, badKey := open(j.Secret, secret.AlertSecretContext(id))
	former, badFormer := open(j.Former, secret.FormerAlertSecretContext(id))
	if errors.Join(bad, badKey, badFormer) != nil {
		return result{fail: failSettings}
	}
	if _, err := parseHook(address, s.allowPrivate); err != nil { // the rules may be stricter now than when it was saved
		return result{fail: failAddress}
	}
	header, body, err := s.compose(j, &address, key, former)
	if err != nil {
		return result{fail: failSettings}
	}
	return s.post(ctx, j.Kind, address, header, body)
}

// compose makes what is sent: of a webhook the payload, signed with both secrets while one gives way to the other.
func (s *sender) compose(j job, address *string, key, former string) (http.Header, []byte, error) {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {userAgent}}
	if j.Kind != Webhook {
		body, err := chatBody(j, address, key, s.now())
		return header, body, err
	}
	id, now := "msg_"+j.ID.String(), s.now()
	var signatures []string
	for _, secret := range []string{key, former} {
		if secret == "" {
			continue
		}
		hook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, nil, err
		}
		signature, err := hook.Sign(id, now, j.Payload)
		if err != nil {
			return nil, nil, err
		}
		signatures = append(signatures, signature)
	}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return header, j.Payload, nil
}

func (s *sender) post(ctx context.Context, kind ChannelKind, address string, header http.Header, body []byte) result {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return result{fail: failAddress}
	}
	request.Header = header
	response, err := s.client.Do(request)
	if err != nil {
		return result{fail: whyNot(err)}
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	r := result{status: response.StatusCode}
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		r.fail, r.final = failStatus, response.StatusCode == http.StatusGone
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			r.after = time.Duration(min(seconds, int(longestRetry/time.Second))) * time.Second
		}
	case kind == Webhook: // what it answers is its own affair
	case err != nil:
		r.fail = whyNot(err)
	case !taken(kind, answer):
		r.fail = failRefused
	}
	return r
}

func (s *sender) sendMail(ctx context.Context, j job) result {
	if j.OwnerEmail == nil && !s.administrator(j.To) {
		return result{fail: failMail, final: true} // no longer one
	}
	subject, text, err := letterOf(j.Payload)
	if err != nil {
		return result{fail: failSettings, final: true}
	}
	if err := s.mail(ctx, j.To, subject, text); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return result{fail: failTimeout}
		}
		return result{fail: failMail}
	}
	return result{}
}

// whyNot names what went wrong with a request, in words of our own: what is told by the network stays here.
func whyNot(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var timeout net.Error
	switch {
	case errors.Is(err, upstream.ErrForbiddenAddress):
		return failAddress
	case errors.As(err, &timeout) && timeout.Timeout():
		return failTimeout
	case errors.As(err, &dns):
		return failDNS
	case errors.As(err, &certificate), errors.As(err, &record), strings.Contains(err.Error(), "tls: "):
		return failTLS
	default:
		return failConnect
	}
}
