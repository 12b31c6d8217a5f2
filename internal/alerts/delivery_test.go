package alerts

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

// fire has a rule told, as if its cause had come.
func (w *world) fire(r Rule) {
	w.T.Helper()
	w.figures.set(func(f *figures) { f.windows[*r.Target.ID] = window(100, 50) })
	w.evaluate(2)
}

// log is the newest deliveries of a rule.
func (w *world) log(who Who, r Rule) []Delivery {
	w.T.Helper()
	found, _, err := w.Log(w.Ctx, who, r.ID, 1, 100)
	if err != nil {
		w.T.Fatal(err)
	}
	return found
}

func verifies(t *testing.T, secret string, got received) bool {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Verify(got.body, got.header) == nil
}

// TestSignaturesVerifyWithBothSecretsWhileOneRotates and with the new one alone when the overlap is over. The check is the official
// library's.
func TestSignaturesVerifyWithBothSecretsWhileOneRotates(t *testing.T) {
	w := newWorld(t)
	h := newHook(t, nil)
	r := w.rule(w.who, draft(w.app, h.URL+"/callgate?a=b%20c"))
	channel := r.Channels[0].ID
	first, err := w.Secret(w.Ctx, w.who, r.ID, channel)
	if err != nil || !strings.HasPrefix(first, "whsec_") {
		t.Fatal(first, err)
	}
	w.deliver(quick)
	sent := func(n int) received {
		t.Helper()
		if _, err := w.Test(w.Ctx, w.who, r.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.until("a test", time.Minute, func() bool { return w.log(w.who, r)[0].Status == "delivered" })
		if got := h.all(); len(got) != n {
			t.Fatalf("%d requests, want %d", len(got), n)
		}
		return h.all()[n-1]
	}
	if got := sent(1); !verifies(t, first, got) || got.query != "a=b%20c" || got.header.Get("webhook-id") != "msg_"+w.log(w.who, r)[0].ID.String() {
		t.Errorf("the first secret: %v %s", got.header, got.query)
	}
	second, err := w.RotateSecret(w.Ctx, w.who, r.ID, channel, time.Hour)
	if err != nil || second == first {
		t.Fatal(second, err)
	}
	if got := sent(2); !verifies(t, first, got) || !verifies(t, second, got) {
		t.Errorf("while both hold: %v", got.header)
	}
	w.Exec(`UPDATE alert_channels SET former_until = now() - interval '1 second'`)
	if got := sent(3); verifies(t, first, got) || !verifies(t, second, got) {
		t.Errorf("after the overlap: %v", got.header)
	}
	got := h.all()[2]
	got.body = append([]byte(" "), got.body...)
	if verifies(t, second, got) {
		t.Error("a changed body verifies")
	}
}

// TestWebhooksReachNothingThatIsNotPublic: not by their URL, not by a name, not by a redirect, and not by what was saved when they might.
func TestWebhooksReachNothingThatIsNotPublic(t *testing.T) {
	w := newWorld(t)
	inside := newHook(t, nil)
	saved := w.rule(w.who, draft(w.app, inside.URL))
	w.Store = New(w.Pool, w.Ring, false, w.administrator)
	for _, target := range []string{
		inside.URL, "http://localhost/", "http://169.254.169.254/latest/meta-data?x=y", "http://10.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
		"http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://[fe80::1%25eth0]/", "ftp://hooks.example/", "http://user:password@hooks.example/",
		"file:///etc/passwd", "gopher://hooks.example/", "http://hooks.example/../x", "http://hooks.example/#x", "http://hooks.example/a b", "",
		"http://100.100.100.200/", "http://hooks.example:0/", "//hooks.example/", "http://[64:ff9b::7f00:1]/",
	} {
		_, err := w.Create(w.Ctx, w.who, draft(w.app, target))
		databasetest.MustFail(t, err, fault.Invalid, "channels")
		if strings.Contains(err.Error(), "user:password") {
			t.Errorf("the fault repeats the URL: %v", err)
		}
	}
	w.fire(saved)
	w.deliver(quick)
	w.until("a refusal", time.Minute, func() bool { d := w.log(w.who, saved); return len(d) == 1 && d[0].Error != nil })
	if d := w.log(w.who, saved)[0]; *d.Error != failAddress || d.LastStatus != nil {
		t.Errorf("what was saved before: %+v", d)
	}

	// A name that is harmless to read resolves to this machine when it is dialled.
	parsed, _ := url.Parse(inside.URL)
	strict := w.service(quick).dispatcher.sender
	if r := strict.post(w.Ctx, Webhook, "http://localhost:"+parsed.Port(), http.Header{}, nil); r.fail != failAddress {
		t.Errorf("a name of this machine: %+v", r)
	}
	if got := inside.all(); len(got) != 0 {
		t.Fatalf("%d requests came in", len(got))
	}
	away := newHook(t, func(out http.ResponseWriter, in *http.Request) {
		http.Redirect(out, in, inside.URL, http.StatusTemporaryRedirect)
	})
	w.Store = New(w.Pool, w.Ring, true, w.administrator)
	open := w.service(quick).dispatcher.sender
	if r := open.post(w.Ctx, Webhook, away.URL, http.Header{}, nil); r.fail != failStatus || r.status != 307 || len(inside.all()) != 0 {
		t.Errorf("a redirect: %+v, %d requests behind it", r, len(inside.all()))
	}
}

// TestEndpointsThatAreGoneHoldUpNobodyElse: fifty channels of one owner hang, refuse or answer without end, and another owner's is
// told at once.
func TestEndpointsThatAreGoneHoldUpNobodyElse(t *testing.T) {
	w := newWorld(t)
	bad := []*hook{
		newHook(t, func(_ http.ResponseWriter, in *http.Request) { <-in.Context().Done() }),
		newHook(t, status(500)),
		newHook(t, func(out http.ResponseWriter, in *http.Request) {
			for in.Context().Err() == nil {
				if _, err := out.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		}),
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	addresses := []string{bad[0].URL, bad[0].URL + "/x", bad[1].URL, bad[2].URL, "http://" + closed.Addr().String()}
	var rules []Rule
	for i := range 10 {
		d := draft(w.app, "")
		d.Name, d.Channels = fmt.Sprint("rule ", i), nil
		for _, address := range addresses {
			d.Channels = append(d.Channels, ChannelDraft{Kind: Webhook, URL: &address})
		}
		rules = append(rules, w.rule(w.who, d))
	}
	w.deliver(quick)
	w.fire(rules[0])
	other, app := w.owner("other@example.com")
	h := newHook(t, nil)
	theirs := w.rule(other, draft(app, h.URL))
	began := time.Now()
	for range 5 {
		before := len(h.all())
		if _, err := w.Test(w.Ctx, other, theirs.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.until("the other owner's", time.Minute, func() bool { return len(h.all()) > before && w.log(other, theirs)[0].Status == "delivered" })
	}
	t.Logf("five deliveries of another owner beside 50 channels that are gone: %s", time.Since(began).Round(time.Millisecond))
	busiest := w.Count(`SELECT count(*) FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id JOIN alert_rules r ON r.id = e.rule_id
		WHERE r.owner_id = $1 AND d.claimed_until > now()`, w.who.Owner)
	if busiest > perOwner {
		t.Errorf("%d attempts at a time for one owner", busiest)
	}
	w.until("a 2xx without end is an answer", time.Minute, func() bool {
		return w.Count(`SELECT count(*) FROM alert_deliveries WHERE status = 'delivered' AND destination = $1`, bad[2].URL) > 0
	})
}

// TestADeliveryIsTriedForADayAndThenGivenUpAndSaidSo, and sent again under the same id.
func TestADeliveryIsTriedForADayAndThenGivenUpAndSaidSo(t *testing.T) {
	total, last := time.Duration(0), time.Duration(0)
	for n := 1; total < giveUpAfter; n++ {
		wait := backoff(n, usual.retry)
		if wait > longestRetry || wait < last/3 {
			t.Fatalf("attempt %d: %s after %s", n, wait, last)
		}
		total, last = total+wait, wait
		if n > 60 {
			t.Fatalf("%d attempts in %s", n, total)
		}
	}
	w := newWorld(t)
	answers := make(chan int, 1)
	answers <- 503
	h := newHook(t, func(out http.ResponseWriter, _ *http.Request) {
		code := <-answers
		answers <- code
		out.WriteHeader(code)
	})
	r := w.rule(w.who, draft(w.app, h.URL))
	w.fire(r)
	w.deliver(quick)
	w.until("retries", time.Minute, func() bool { return len(h.all()) >= 3 })
	d := w.log(w.who, r)[0]
	if d.Status != "pending" || d.Error == nil || *d.Error != failStatus || d.LastStatus == nil || *d.LastStatus != 503 || d.NextAttemptAt == nil {
		t.Errorf("while it is tried: %+v", d)
	}
	w.Exec(`UPDATE alert_deliveries SET deadline = now(), next_at = now()`)
	w.until("giving up", time.Minute, func() bool { return w.log(w.who, r)[0].Status == "given_up" })
	if rules, _, err := w.List(w.Ctx, w.who); err != nil || rules[0].Deliveries != (Counts{GivenUp: 1}) {
		t.Errorf("%+v, %v", rules[0].Deliveries, err)
	}
	<-answers
	answers <- 204
	if _, err := w.Resend(w.Ctx, w.who, r.ID, d.ID); err != nil {
		t.Fatal(err)
	}
	w.until("sending again", time.Minute, func() bool { return w.log(w.who, r)[0].Status == "delivered" })
	ids := map[string]bool{}
	for _, got := range h.all() {
		ids[got.header.Get("webhook-id")] = true
	}
	if len(ids) != 1 || !ids["msg_"+d.ID.String()] {
		t.Errorf("ids %v", ids)
	}

	<-answers
	answers <- 410
	if _, err := w.Test(w.Ctx, w.who, r.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.until("410", time.Minute, func() bool { return w.log(w.who, r)[0].Status == "given_up" })
}

// TestARemovedChannelIsSentNothingMore, and what waited for it is given up and said so.
func TestARemovedChannelIsSentNothingMore(t *testing.T) {
	w := newWorld(t)
	h := newHook(t, status(500))
	r := w.rule(w.who, draft(w.app, h.URL))
	w.fire(r)
	fresh := newHook(t, nil)
	channels := []ChannelDraft{{Kind: Webhook, URL: &fresh.URL}}
	if _, err := w.Update(w.Ctx, w.who, r.ID, Edit{Channels: &channels}); err != nil {
		t.Fatal(err)
	}
	d := w.log(w.who, r)[0]
	if d.Status != "given_up" || *d.Error != failChannel || d.ChannelID != nil {
		t.Errorf("%+v", d)
	}
	_, err := w.Resend(w.Ctx, w.who, r.ID, d.ID)
	databasetest.MustFail(t, err, fault.Conflict)
	_, err = w.Resend(w.Ctx, w.who, r.ID, uuid.New())
	databasetest.MustFail(t, err, fault.NotFound)
}

// TestEventsAreKeptAsLongAsIsSaid, with to whom they were sent.
func TestEventsAreKeptAsLongAsIsSaid(t *testing.T) {
	w := newWorld(t)
	who, app := w.owner("keeper@example.com")
	r := w.rule(who, draft(app, "http://127.0.0.1:1/"))
	conn, err := pgx.ConnectConfig(w.Ctx, w.Pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(w.Ctx) }()
	for days, left := range map[int]int{3: 1, 5: 2} {
		w.Exec(`DELETE FROM alert_events`)
		w.due(r)
		w.due(r)
		w.Exec(`UPDATE alert_events SET at = now() - interval '4 days' WHERE id = (SELECT id FROM alert_events LIMIT 1)`)
		e := w.service(pace{}).evaluator
		e.keep = time.Duration(days) * 24 * time.Hour
		if err := e.prune(w.Ctx, conn, time.Now()); err != nil {
			t.Fatal(err)
		}
		if events, sent := w.Count(`SELECT count(*) FROM alert_events`), w.Count(`SELECT count(*) FROM alert_deliveries`); events != left || sent != left {
			t.Errorf("kept for %d days: %d events, %d deliveries, want %d", days, events, sent, left)
		}
	}
}
