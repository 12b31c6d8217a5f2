package console

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/identity"
	"callgate/internal/openapi"
	"callgate/internal/openapi/contract"
)

// fuzzer is a console with something of everything in it.
type fuzzer struct {
	*watcher
	random       *rand.Rand
	dev          identity.SignIn
	desk         *client
	applications []string
	calls        []string // failed ones of the first application
	groups       []string
	capabilities []string // "steady" is always enabled
	people       int
}

func newFuzzer(t *testing.T, seed uint64) *fuzzer {
	t.Helper()
	w := newWatcher(t, func(c *identity.Config) {
		for i := range fuzzDesks {
			c.AdminEmails = append(c.AdminEmails, fmt.Sprintf("desk%d@example.com", i))
		}
	})
	f := &fuzzer{watcher: w, random: rand.New(rand.NewPCG(seed, 0)), desk: w.admin, capabilities: []string{"steady", "a", "b:1", "c"}, groups: []string{"g"}}
	f.seed(f.capabilities...)
	f.loseSpool()
	f.share()
	f.dev = f.signedIn(identity.Developer)
	owner := &client{f.manager, f.dev.Token.Value}
	for i := range 5 {
		f.applications = append(f.applications, f.application(owner, fmt.Sprintf("app %d", i)))
	}
	for i := range 30 {
		id := f.called(f.applications[0], "a", time.Duration(i)*time.Hour, i, 500)
		f.calls = append(f.calls, id.String())
	}
	return f
}

// signedIn opens a session of somebody new.
func (f *fuzzer) signedIn(audience identity.Audience) identity.SignIn {
	f.t.Helper()
	email, ip := f.somebody(audience), f.address()
	if err := f.identity.SendCode(f.t.Context(), audience, email, identity.Program(ip)); err != nil {
		f.t.Fatal(err)
	}
	in, err := f.identity.LogIn(f.t.Context(), audience, email, f.mailed(email), identity.Program(ip), "fuzz")
	if err != nil {
		f.t.Fatal(err)
	}
	return in
}

func (f *fuzzer) somebody(audience identity.Audience) string {
	f.people++
	if audience == identity.Admin {
		return fmt.Sprintf("desk%d@example.com", f.people%fuzzDesks)
	}
	return fmt.Sprintf("person%d@example.com", f.people)
}

func (f *fuzzer) address() string {
	return fmt.Sprintf("10.%d.%d.%d", f.random.IntN(256), f.random.IntN(256), f.random.IntN(256))
}

func (f *fuzzer) mailed(email string) string {
	f.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if mails := f.mails.Mails(email); len(mails) > 0 {
			return mails[0].Code
		}
		if time.Now().After(end) {
			f.t.Fatalf("no code came for %s", email)
		}
	}
}

func pick[T any](f *fuzzer, from []T) T { return from[f.random.IntN(len(from))] }

// shot is a request as it will be sent.
type shot struct {
	path   map[string]string
	query  url.Values
	body   any    // made into JSON
	raw    []byte // sent instead of body
	header http.Header
}

// aim makes a request that ought to succeed.
func (f *fuzzer) aim(op openapi.Operation) *shot {
	s := &shot{path: map[string]string{}, query: url.Values{}, header: http.Header{"X-Real-Ip": {f.address()}}}
	switch {
	case strings.Contains(op.Path, "/auth/code"), strings.Contains(op.Path, "/auth/login"):
	case strings.HasPrefix(op.Path, "/api/admin/auth/"):
		s.header.Set("Cookie", adminSessionCookie+"="+f.signedIn(identity.Admin).SessionToken)
	case op.ID == "logOut", op.ID == "renewToken":
		s.header.Set("Cookie", sessionCookie+"="+f.signedIn(identity.Developer).SessionToken)
	case strings.HasPrefix(op.Path, "/api/admin/"):
		s.header.Set("Authorization", "Bearer "+f.desk.token)
	default:
		s.header.Set("Authorization", "Bearer "+f.dev.Token.Value)
	}
	if op.ID == "endSession" {
		in := f.signedIn(identity.Developer)
		s.header.Set("Authorization", "Bearer "+in.Token.Value)
		s.path["id"] = in.Principal.SessionID.String()
	}
	generator := documented.NewGenerator(f.random, f.known(op))
	f.fillParameters(op, s, generator)
	switch {
	case op.ID == "compareInvoice":
		s.raw = []byte("date,model,input_tokens,cost,currency\n2026-08-01,steady,100,0.5,USD\n")
	case op.Body != nil:
		s.body = generator.Body(op)
	}
	f.settle(op, s)
	return s
}

func (f *fuzzer) fillParameters(op openapi.Operation, s *shot, generator *contract.Generator) {
	for _, p := range op.Parameters {
		name := p["name"].(string)
		switch {
		case p["in"] == "path" && s.path[name] == "":
			s.path[name] = url.PathEscape(fmt.Sprint(generator.Value("path "+name, p["schema"])))
		case p["in"] == "query" && (p["required"] == true || f.random.IntN(2) == 0):
			s.query.Set(name, fmt.Sprint(generator.Value(name, p["schema"])))
		case name == "If-Match" && f.random.IntN(4) == 0:
			s.header.Set(name, pick(f, []string{"*", "*", `"` + beijing.Format(f.now) + `"`, "x"}))
		}
	}
}

// settle brings together what the document cannot tie together.
func (f *fuzzer) settle(op openapi.Operation, s *shot) {
	body, _ := s.body.(map[string]any)
	switch op.ID {
	case "createUpstream", "updateUpstream":
		body["skipCheck"] = true
		if op.ID == "updateUpstream" {
			delete(body, "id")
			body["key"] = "sk-fuzz"
		}
	case "deleteUpstream":
		made := f.desk.must(201, "POST", "/api/admin/upstreams", `{"name":"To be deleted","baseUrl":"http://127.0.0.1:1","key":"sk-fuzz","skipCheck":true}`)
		s.path["id"] = field[string](f.t, made, "id")
	case "checkUpstream":
		body["key"] = "sk-fuzz"
	case "createCapability":
		body["upstreamBaseUrl"], body["upstreamKey"] = "https://upstream.example", "sk-fuzz"
	case "updateGroup", "updateCapability":
		delete(body, "id")                                                      // cannot be changed
		if _, moved := body["upstreamBaseUrl"]; moved && f.random.IntN(4) > 0 { // another host wants its key
			body["upstreamKey"] = "sk-fuzz"
		}
	case "checkCapability":
		body["upstreamBaseUrl"], body["upstreamKey"] = "http://127.0.0.1:1", "sk-fuzz" // refuses at once
	case "logIn", "adminLogIn":
		audience := identity.Developer
		if op.ID == "adminLogIn" {
			audience = identity.Admin
		}
		email := f.somebody(audience)
		if err := f.identity.SendCode(f.t.Context(), audience, email, identity.Program(s.header.Get("X-Real-Ip"))); err != nil {
			f.t.Fatal(err)
		}
		body["email"], body["code"] = email, f.mailed(email)
	case "deleteApplication":
		s.path["id"] = f.application(&client{f.manager, f.dev.Token.Value}, "to be deleted")
	case "updateKey", "deleteKey", "revealKey", "createKey", "rotateAccessKey":
		owner := &client{f.manager, f.dev.Token.Value}
		of := f.application(owner, "with keys")
		made := owner.must(201, "POST", "/api/applications/"+of+"/keys", `{"name":"more"}`)
		s.path["id"], s.path["keyId"] = of, field[string](f.t, made, "id")
	case "createManagementToken", "revokeManagementToken": // of somebody new: there may be 20
		owner := &client{f.manager, f.signedIn(identity.Developer).Token.Value}
		s.header.Set("Authorization", "Bearer "+owner.token)
		if body != nil {
			body["expiresAt"] = time.Now().Add(time.Duration(1+f.random.IntN(366*24)) * time.Hour).Add(-time.Minute).Format(time.RFC3339)
		} else {
			_, s.path["id"] = owner.managementToken("read")
		}
	case "deletePrice":
		made := f.desk.must(200, "PUT", "/api/admin/prices", `{"capabilityId":"a","from":"2026-01-01","currency":"USD","input":"2","output":"8"}`)
		s.path["id"] = field[string](f.t, made, "id")
	case "deleteRate":
		made := f.desk.must(200, "PUT", "/api/admin/rates", `{"currency":"USD","toCurrency":"CNY","from":"2026-01-01","rate":"7.1"}`)
		s.path["id"] = field[string](f.t, made, "id")
	case "putCeiling":
		body["owner"], body["application"] = "person1@example.com", f.applications[0]
		for _, limit := range limitNames { // those of applications stay below, but for a few
			if body[limit] != nil && f.random.IntN(8) > 0 {
				body[limit] = 900_000_000_000
			}
		}
	case "setApplicationLimits":
		for _, limit := range limitNames {
			if body[limit] != nil {
				body[limit] = 1 + f.random.IntN(1000)
			}
		}
	case "judgeApplication": // one of its own: the others are edited by their owner
		s.path["id"] = f.application(&client{f.manager, f.dev.Token.Value}, "to be judged")
		body["reason"] = "fuzz"
	case "moveApplication":
		s.path["id"] = f.application(&client{f.manager, f.dev.Token.Value}, "to be moved")
		body["owner"], body["reason"] = "person1@example.com", "fuzz"
	case "endUserSessions":
		s.path["id"] = f.signedIn(identity.Developer).Principal.UserID.String()
	case "listAudit", "exportAudit":
		for _, values := range [][]string{
			{"actor", managingAdmin, "person", ""}, {"action", "application.", "capability.update", ""}, {"target", "app", "a", "100%"},
			{"from", beijing.Format(f.now.Add(-time.Hour))}, {"to", beijing.Format(f.now.Add(time.Hour))},
		} {
			if s.query.Has(values[0]) {
				s.query.Set(values[0], pick(f, values[1:]))
			}
		}
	case "getCall":
		s.path["id"] = f.applications[0]
	case "listCalls", "exportCalls":
		f.within(s.query)
	default:
		if strings.Contains(op.Path, "/alerts") {
			f.settleAlert(op, s, body)
		}
	}
}

// known names what exists.
func (f *fuzzer) known(op openapi.Operation) func(string) (any, bool) {
	today := beijing.Today(f.now)
	return func(name string) (any, bool) {
		switch name {
		case "path id":
			switch {
			case strings.HasPrefix(op.Path, "/api/admin/groups/"):
				return pick(f, f.groups), true
			case strings.Contains(op.Path, "/capabilities/{id}"):
				return f.capability(op), true
			case strings.Contains(op.Path, "/alerts/"):
				return "", true // settled with what belongs to it
			case strings.HasPrefix(op.Path, "/api/admin/users/"), strings.HasPrefix(op.Path, "/api/admin/applications/"):
				return "", true // settled
			case strings.HasPrefix(op.Path, "/api/admin/spools/"):
				return lostSpool, true
			case strings.HasPrefix(op.Path, "/api/admin/upstreams/"):
				return "shared", true
			}
			return pick(f, f.applications), true
		case "month":
			return pick(f, []string{"2026-08", "2020-02", "2100-12"}), true
		case "zone":
			return pick(f, []string{"UTC", "Asia/Shanghai", "America/Los_Angeles"}), true
		case "threshold":
			return pick(f, []float64{20, 50.5, 100}), true
		case "resolveThreshold":
			return pick(f, []float64{1, 19.5}), true
		case "silencedUntil":
			return pick(f, []any{nil, "2090-01-01T00:00:00+08:00"}), true
		case "channels":
			return pick(f, []any{[]any{map[string]any{"kind": "mail"}}, []any{map[string]any{"kind": "slack", "url": "http://127.0.0.1:1/?k=v"}}}), true
		case "path deliveryId", "path channelId":
			return "", true
		case "path capabilityId", "capabilityIds[]":
			return "steady", true
		case "expiresAt":
			return pick(f, []any{nil, time.Now().Add(time.Hour).Format(time.RFC3339), "2090-01-01T00:00:00.5Z"}), true
		case "allowedCidrs[]":
			return pick(f, []string{"192.0.2.7", "10.0.0.0/8", "2001:db8::/32", "::ffff:192.0.2.0/120"}), true
		case "path callId":
			return pick(f, f.calls), true
		case "ids[]":
			if strings.Contains(op.Path, "/groups/") {
				return pick(f, f.groups), true
			}
			return pick(f, f.capabilities), true
		case "owner":
			return f.dev.Principal.UserID.String(), true
		case "q":
			return pick(f, []string{"", "person", "APP"}), true
		case "groupId":
			return "g", true
		case "model":
			return pick(f, append(f.capabilities, "")), true
		case "upstreamModel":
			return pick(f, []string{"gpt-5", "a-model"}), true
		case "currency":
			return pick(f, []string{"CNY", "USD"}), true
		case "toCurrency":
			return pick(f, []string{"EUR", "JPY"}), true
		case "rate":
			return pick(f, []string{"7.1", "0.000000000001"}), true
		case "input", "output":
			return pick(f, []string{"0", "2.5", "0.0001"}), true
		case "cached", "cacheWrite":
			return pick(f, []any{nil, "0.25"}), true
		case "cacheWrite1h", "tier":
			return pick(f, []any{nil, "6"}), true
		case "amounts":
			return pick(f, []any{map[string]any{}, map[string]any{"images": "0.04", "reasoning": "0.000000000001"}}), true
		case "capability", "capabilityId":
			return pick(f, f.capabilities), true
		case "start":
			return (today - beijing.Day(3+f.random.IntN(300))).String(), true
		case "end":
			return (today - beijing.Day(f.random.IntN(3))).String(), true
		case "allowedMethods[]":
			return pick(f, []string{"GET", "POST", "QUERY"}), true
		case "allowedPaths[]":
			return pick(f, []string{"/v1", "/v1/chat/completions"}), true
		case "traceId":
			return strings.Repeat("4b", 16), true
		case "until", "at":
			return beijing.Format(f.now.Add(-time.Duration(f.random.IntN(3600)) * time.Second)), true
		case "email":
			return f.somebody(identity.Developer), true
		case "upstreams":
			named := []map[string]any{{"upstreamId": "shared", "weight": 1 + f.random.IntN(9)}, {"upstreamId": "spare", "priority": 1, "status": "disabled"}}
			return named[:1+f.random.IntN(2)], true
		case "baseUrl":
			return pick(f, []string{"http://127.0.0.1:1", "http://127.0.0.1:1/base/"}), true
		case "checkPath":
			return pick(f, []string{"", "/v1/models"}), true
		case "key":
			return "sk-fuzz", true
		case "upstreamBaseUrl":
			return pick(f, []string{"http://127.0.0.1:1", "https://upstream.example/v1", "http://127.0.0.1:1/base/"}), true
		case "upstreamKey":
			return "sk-fuzz", true
		case "defaultPath":
			return pick(f, []string{"", "/v1/chat/completions", "/v1/messages", "/models"}), true
		}
		return f.filter(today, name)
	}
}

// capability is one to read or change; what others bind stays enabled.
func (f *fuzzer) capability(op openapi.Operation) string {
	if op.Method == http.MethodPatch {
		return pick(f, f.capabilities[1:])
	}
	return pick(f, f.capabilities)
}
