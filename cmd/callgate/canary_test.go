package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate/internal/demo"
	"callgate/internal/embedded"
)

// plainKey is an upstream key that no pattern recognises: only knowing it can hide it.
const plainKey = "Zm9yIHRoZSBjYW5hcnkgb25seQ7Q2x9"

// marker is no secret: finding it shows that a search looks where things are.
const marker = "canary-marker-of-the-journey"

// canary is a secret. Upstream addresses are known to administrators: they are stored as they are
// and shown in the back office, and nowhere else.
type canary struct {
	name, value string
	address     bool
}

// seenAnswer is a response as the recorder saw it on its way to a client.
type seenAnswer struct {
	method, path string
	status       int
	header       http.Header
	body         string
}

// recorder keeps every response that http.DefaultClient gets.
type recorder struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen []seenAnswer
}

func recordAnswers(t *testing.T) *recorder {
	t.Helper()
	before := http.DefaultClient.Transport
	r := &recorder{next: before}
	if before == nil {
		r.next = http.DefaultTransport
	}
	http.DefaultClient.Transport = r
	t.Cleanup(func() { http.DefaultClient.Transport = before })
	return r
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, seenAnswer{req.Method, req.URL.Path, resp.StatusCode, resp.Header.Clone(), string(body)})
	return resp, nil
}

// newTalkative is an upstream that repeats in its errors what it was sent, keys and all.
func newTalkative(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/fine" {
			_, _ = w.Write([]byte(`{"ok":true}`))
			return
		}
		message, _ := json.Marshal(object{"error": object{"message": fmt.Sprint("refused: ", r.Header.Get("Authorization"), " key=",
			strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), " for ", r.RequestURI, " with ", string(body))}})
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/gzip" {
			var packed bytes.Buffer
			writer := gzip.NewWriter(&packed)
			_, _ = writer.Write(message)
			_ = writer.Close()
			message = packed.Bytes()
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(message)
	}))
	t.Cleanup(s.Close)
	return s
}

// hunt is a served product with everything secret about it.
type hunt struct {
	*process
	environment map[string]string
	answers     *recorder
	mailbox     *demo.Mailbox
	canaries    []canary
	failures    int    // calls that must have left a detail
	token       string // of management
}

func (h *hunt) plant(name, value string) {
	h.t.Helper()
	if len(value) < 6 {
		h.t.Fatalf("the %s is %q", name, value)
	}
	h.canaries = append(h.canaries, canary{name: name, value: value})
}

func newHunt(t *testing.T) *hunt {
	t.Helper()
	h := &hunt{answers: recordAnswers(t), mailbox: embedded.Mails(t)}
	h.environment = map[string]string{
		"DATABASE_URL": embedded.Postgres(t), "CLICKHOUSE_URL": embedded.ClickHouse(t), "REDIS_URL": embedded.Redis(t),
		"JWT_SECRET": "jwt-secret-canary-0123456789abcdefgh", "ACCESS_KEY_PEPPER": "pepper-canary-0123456789abcdefghijkl",
		"ENCRYPTION_KEYS": encryptionKey("canary"), "ADMIN_EMAILS": "admin@callgate.local", "SMTP_URL": h.mailbox.URL(),
		"MAIL_FROM": "callgate@example.com", "SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "UPSTREAM_ALLOW_PRIVATE": "true",
		"LOG_LEVEL": "debug", "METRICS_LISTEN": freeAddress(t),
	}
	h.process = start(t, h.environment, "serve")
	h.mails = func(email string) (string, error) {
		caught := h.mailbox.Mails(email)
		if len(caught) == 0 {
			return "", fmt.Errorf("no mail")
		}
		return caught[0].Code, nil
	}
	h.plant("JWT secret", h.environment["JWT_SECRET"])
	h.plant("pepper", h.environment["ACCESS_KEY_PEPPER"])
	h.plant("encryption key", strings.TrimPrefix(h.environment["ENCRYPTION_KEYS"], "canary:"))
	h.plant("encryption key, raw", strings.Repeat("c", 32))
	return h
}

// enter signs somebody in and plants code, token and session.
func (h *hunt) enter(who client, email string) client {
	h.t.Helper()
	h.plant("login code of "+email, h.mailbox.Mails(email)[0].Code)
	h.plant("token of "+email, who.token)
	h.plant("signature of the token of "+email, who.token[strings.LastIndex(who.token, ".")+1:])
	h.answers.mu.Lock()
	defer h.answers.mu.Unlock()
	last := h.answers.seen[len(h.answers.seen)-1]
	for _, cookie := range (&http.Response{Header: last.header}).Cookies() {
		h.plant("session of "+email, cookie.Value)
	}
	return who
}

func (h *hunt) plantKey(name, key string) {
	h.t.Helper()
	h.plant(name, key)
	h.plant(name+", without its prefix", strings.TrimPrefix(key, "cg-"))
}

// TestSecretsAreFoundOnlyWhereTheyBelong plants every kind of secret wherever a user may put one by
// mistake, and then searches everything that the product keeps, writes or answers.
func TestSecretsAreFoundOnlyWhereTheyBelong(t *testing.T) {
	h := newHunt(t)
	up := newTalkative(t)
	admin := h.enter(h.administrator(), "admin@callgate.local")
	dev := h.enter(h.developer("dev@example.com"), "dev@example.com")

	h.plant("recognisable upstream key", upstreamKey)
	h.plant("plain upstream key", plainKey)
	admin.capability("chat", up.URL, upstreamKey)
	admin.capability("plain", up.URL, "sk-replacedUpstreamCanary0123456789")
	h.plant("replaced upstream key", "sk-replacedUpstreamCanary0123456789")
	do[any](admin, "PATCH", "/api/admin/capabilities/plain", object{"upstreamKey": plainKey})
	nobody := freeAddress(t)
	admin.capability("gone", "http://"+nobody, plainKey)
	h.canaries = append(h.canaries, canary{"address of an upstream", strings.TrimPrefix(up.URL, "http://"), true},
		canary{"address of an upstream that is gone", nobody, true})
	app, first := dev.application(marker, "chat", "plain", "gone")
	h.plantKey("rotated Access Key", first)
	key := do[struct{ AccessKey string }](dev, "POST", "/api/applications/"+app+"/access-key/rotate", nil).AccessKey
	h.plantKey("Access Key", key)
	do[any](dev, "GET", "/api/applications/"+app+"/access-key", nil)
	doomed, lost := dev.application("Doomed", "chat")
	h.plantKey("Access Key of a deleted application", lost)
	do[any](dev, "DELETE", "/api/applications/"+doomed, nil)

	h.token = do[struct{ Token string }](dev, "POST", "/api/tokens", object{"name": "Script", "access": "read", "expiresAt": time.Now().Add(time.Hour).Format(time.RFC3339)}).Token
	h.plant("management token", h.token)
	h.plant("management token, without its prefix", strings.TrimPrefix(h.token, "cgm-"))
	do[any](client{h.process, h.token}, "GET", "/api/statistics/applications/overview", nil)

	h.mistakesAtTheDesk(admin, dev, app, key)
	h.mistakesOfCallers(dev, key, first)
	h.awaitDetails(admin, dev, app)
	h.browse(admin, dev, app)
	h.search(t)
}

// mistakesAtTheDesk puts secrets into management requests that must be refused.
func (h *hunt) mistakesAtTheDesk(admin, dev client, app, key string) {
	for _, wrong := range []struct {
		by           client
		method, path string
		body         any
	}{
		{client{h.process, key}, "GET", "/api/applications", nil},
		{client{h.process, upstreamKey}, "GET", "/api/statistics/applications?token=" + key, nil},
		{dev, "GET", "/api/applications/" + key, nil},
		{dev, "GET", "/api/applications?page=" + key, nil},
		{client{h.process, h.token}, "POST", "/api/applications", object{"name": h.token}},
		{client{h.process, h.token + "x"}, "GET", "/api/applications", nil},
		{dev, "DELETE", "/api/tokens/" + h.token, nil},
		{dev, "POST", "/api/tokens", object{"name": h.token, "access": h.token, "expiresAt": h.token}},
		{dev, "GET", "/api/capabilities/" + key, nil},
		{dev, "PATCH", "/api/applications/" + app + "/status", object{"status": key}},
		{dev, "GET", "/api/statistics/applications?start=" + key, nil},
		{dev, "GET", "/api/statistics/applications/" + app + "/calls/" + key, nil},
		{dev, "GET", "/api/admin/groups?key=" + upstreamKey, nil},
		{admin, "GET", "/api/applications", nil},
		{admin, "PATCH", "/api/admin/capabilities/chat", object{"upstreamKey": plainKey + " with a space"}},
		{admin, "POST", "/api/admin/capabilities", object{"id": "x", "upstreamKey": plainKey, "upstreamBaseUrl": "ftp://" + plainKey}},
		{admin, "POST", "/api/admin/capabilities/check", object{"upstreamBaseUrl": "not a url", "upstreamKey": plainKey}},
		{dev, "POST", "/api/auth/login", object{"email": "dev@example.com", "code": dev.token}},
		{dev, "GET", "/api/nowhere/" + key, nil},
	} {
		if status, e := wrong.by.try(wrong.method, wrong.path, wrong.body); status < 400 || status >= 500 {
			h.t.Errorf("%s %s: %d %s", wrong.method, wrong.path, status, e.Msg)
		}
	}
	for _, id := range []string{"chat", "plain", "gone"} {
		do[any](admin, "POST", "/api/admin/capabilities/check", object{"id": id, "defaultPath": "/v1/echo"})
	}
}

// mistakesOfCallers puts secrets wherever a call has room for one.
func (h *hunt) mistakesOfCallers(dev client, key, former string) {
	t := h.t
	secrets := strings.Join([]string{key, upstreamKey, dev.token, h.token}, " ")
	escaped := ""
	for _, c := range key {
		escaped += fmt.Sprintf("\\u%04x", c)
	}
	percent := ""
	for _, c := range []byte(key) {
		percent += fmt.Sprintf("%%%02x", c)
	}
	bodies := []string{
		fmt.Sprintf(`{"marker":%q,"note":"use %s","deep":[{"api_key":%q,"Authorization":"Bearer %s"},{"name":"password","value":%q}]}`, marker, secrets, plainKey, key, key),
		fmt.Sprintf(`{"marker":%q,"note":"%s","%s":"as a name","text":"Bearer %s"}`, marker, escaped, key, dev.token),
		fmt.Sprintf(`{"marker":%q,"url":"https://user:%s@host/?key=%s","dsn":"postgres://u:%s@db/x"}`, marker, plainKey, key, plainKey),
		`["` + strings.Repeat("x", 1000) + " " + secrets + `"]`,
		`"` + key + `"`,
		`{"broken": "` + secrets,
	}
	queries := []string{"&q=" + url.QueryEscape(secrets), "&api_key=" + plainKey, "&x=" + percent, "&" + key + "=1", "&u=" + url.QueryEscape("https://h/?token="+dev.token), ""}
	j := &journey{process: h.process, key: key}
	eventually(t, time.Minute, "the rotated key works", func() error {
		if status, _, answer := j.send("POST", "/v1/fine?model=chat", "application/json", []byte(`{}`)); status != 200 {
			return fmt.Errorf("%d %s", status, answer)
		}
		return nil
	})
	for i, body := range bodies {
		for _, path := range []string{"/v1/echo?model=chat", "/v1/gzip?model=plain", "/v1/echo?model=plain", "/v1/echo?model=gone", "/v1/" + key + "?model=chat", "/v1/echo?model=" + key, "/v1/echo?z=1"} {
			for _, door := range doors {
				if status := h.call(door, j.key, path+queries[i], body, secrets); status < 400 {
					t.Errorf("%s: %d", path, status)
				}
				h.failures++
			}
		}
	}
	for i, wrong := range []string{former, upstreamKey, dev.token, key + "x", plainKey, h.token} { // unattributed: 401
		eventually(t, time.Minute, "the credential is refused", func() error {
			if status := h.call(doors[i%2], wrong, "/v1/fine?model=chat", bodies[0], secrets); status != 401 {
				return fmt.Errorf("%d", status)
			}
			return nil
		})
	}
}

// door is a way in: a header for the key, and a place for the capability.
type door struct{ header, scheme, root string }

var doors = []door{{"Authorization", "Bearer ", "/gateway$1?model=$2"}, {"X-Goog-Api-Key", "", "/via/$2$1?"}}

var capability = regexp.MustCompile(`^([^?]*)\?model=([^&]*)`)

// call makes a gateway call with secrets in its headers too.
func (h *hunt) call(by door, key, target, body, secrets string) (status int) {
	h.t.Helper()
	address := capability.ReplaceAllString(target, by.root)
	if address == target { // it names none
		address = "/gateway" + target
	}
	req, err := http.NewRequestWithContext(h.t.Context(), "POST", h.base+address, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for name, value := range map[string]string{
		by.header: by.scheme + key, "Content-Type": "application/json", "User-Agent": "sdk " + secrets, "X-Secret": secrets,
		"Cookie": "callgate_session=" + secrets, "X-Api-Key": key, "Referer": "https://h/?key=" + key, "X-Request-Id": key,
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// awaitDetails waits until every failure is in ClickHouse and reads each one's detail, and what administrators see of it.
func (h *hunt) awaitDetails(admin, dev client, app string) {
	h.t.Helper()
	type page struct {
		Items []struct{ CallID string }
		Total int
	}
	path := "/api/statistics/applications/" + app + "/calls?result=failure&page="
	eventually(h.t, time.Minute, "every failure is in the statistics", func() error {
		if got := do[page](dev, "GET", path+"1", nil).Total; got < h.failures {
			return fmt.Errorf("%d of %d", got, h.failures)
		}
		return nil
	})
	read := 0
	for n := 1; read < h.failures; n++ {
		items := do[page](dev, "GET", fmt.Sprint(path, n), nil).Items
		if len(items) == 0 {
			break
		}
		for _, item := range items {
			do[any](dev, "GET", "/api/statistics/applications/"+app+"/calls/"+item.CallID, nil)
			do[any](admin, "GET", lookUpPath+item.CallID, nil)
			read++
		}
	}
	if read < h.failures {
		h.t.Errorf("%d details read, want %d", read, h.failures)
	}
}

// browse asks for everything that shows what was stored.
func (h *hunt) browse(admin, dev client, app string) {
	for _, path := range []string{
		"/api/applications", "/api/applications/" + app, "/api/capabilities", "/api/capabilities/chat", "/api/capabilities/chat/applications",
		"/api/statistics/applications", "/api/statistics/applications/overview", "/api/statistics/applications/" + app,
		"/api/auth/me", "/api/auth/sessions", "/api/tokens", "/api/config",
	} {
		do[any](dev, "GET", path, nil)
	}
	for _, path := range []string{
		"/api/admin/groups", "/api/admin/capabilities", "/api/admin/capabilities/chat", "/api/admin/audit?size=100", "/api/admin/users",
		figuresPath + "overview", figuresPath + "capabilities", figuresPath + "capabilities/chat", figuresPath + "upstreams",
		directoryPath,
	} {
		do[any](admin, "GET", path, nil)
	}
	resp, err := http.Get(h.base + "/api/statistics/applications/" + app + "/calls.csv")
	if err == nil {
		_ = resp.Body.Close()
	}
}
