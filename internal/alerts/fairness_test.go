package alerts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

// patient is a pace at which what hangs goes on hanging for as long as a test takes.
var patient = pace{every: 50 * time.Millisecond, standIn: 50 * time.Millisecond, claimFor: 2 * time.Minute, attempt: time.Minute, retry: 50 * time.Millisecond}

// gauge counts what is under way, and how much that was at most.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += n
	g.most = max(g.most, g.now)
}

func (g *gauge) read() (now, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now, g.most
}

// hanging is an endpoint that answers nothing until the test ends.
func hanging(t *testing.T) (*hook, *gauge) {
	g := &gauge{}
	return newHook(t, func(_ http.ResponseWriter, in *http.Request) {
		g.add(1)
		defer g.add(-1)
		<-in.Context().Done()
	}), g
}

// due has every channel of a rule sent something, by no test.
func (w *world) due(r Rule) {
	w.T.Helper()
	if _, err := w.Pool.Exec(w.Ctx, `WITH e AS (INSERT INTO alert_events (id, rule_id, kind, at, figures, payload)
			VALUES (gen_random_uuid(), $1, 'test', now(), '{}', '{}') RETURNING id)
		INSERT INTO alert_deliveries (id, event_id, channel_id, channel_kind, destination, deadline, next_at)
		SELECT gen_random_uuid(), e.id, c.id, c.kind, c.destination, now() + interval '1 day', clock_timestamp() - interval '1 second'
		FROM e, alert_channels c WHERE c.rule_id = $1`, r.ID); err != nil {
		w.T.Fatal(err)
	}
}

// TestManyOwnersWhoseEndpointsHangHoldUpNobodyElse: a dozen owners have many rules each, all of whose channels hang at hosts of their
// own. Another owner's is told while all of that still hangs.
func TestManyOwnersWhoseEndpointsHangHoldUpNobodyElse(t *testing.T) {
	w := newWorld(t)
	var gauges []*gauge
	for i := range 12 {
		who, app := w.owner(fmt.Sprintf("hanging-%d@example.com", i))
		var channels []ChannelDraft
		for range 4 {
			h, g := hanging(t)
			gauges = append(gauges, g)
			channels = append(channels, ChannelDraft{Kind: Webhook, URL: &h.URL})
		}
		for n := range 3 {
			d := draft(app, "")
			d.Name, d.Channels = fmt.Sprint("rule ", n), channels
			w.due(w.rule(who, d))
		}
	}
	underWay := func() (sum int) {
		for _, g := range gauges {
			now, _ := g.read()
			sum += now
		}
		return sum
	}
	w.deliver(patient)
	w.until("what hangs", time.Minute, func() bool { return underWay() >= besideAtATime })
	other, app := w.owner("other@example.com")
	h := newHook(t, nil)
	theirs := w.rule(other, draft(app, h.URL))
	for n := range 3 {
		w.due(theirs)
		w.until("the other owner's", time.Minute, func() bool { return len(h.all()) == n+1 && w.log(other, theirs)[0].Status == "delivered" })
	}
	if n := underWay(); n < besideAtATime || n > besideAtATime+1 {
		t.Errorf("%d attempts hang, want %d", n, besideAtATime)
	}
}

// TestAnOwnerForWhomNothingIsUnderWayComesFirst, of those one whose destinations answer, however long others wait.
func TestAnOwnerForWhomNothingIsUnderWayComesFirst(t *testing.T) {
	w := newWorld(t)
	owners := map[string]uuid.UUID{}
	for _, name := range []string{"slow", "busy", "patient", "late"} {
		who, app := w.owner(name + "@example.com")
		owners[name] = who.Owner
		for n := range 2 {
			d := draft(app, fmt.Sprintf("http://%s-%d.example.com/", name, n))
			d.Name = fmt.Sprint("rule ", n)
			w.due(w.rule(who, d))
		}
		time.Sleep(5 * time.Millisecond) // the next one's are due later
	}
	w.Exec(`UPDATE alert_deliveries SET claimed_until = now() + interval '1 hour' WHERE destination = 'http://busy-0.example.com'`)
	room := places{all: 1, beside: 1, slow: map[uuid.UUID]time.Time{owners["slow"]: time.Now()}}
	for _, want := range []string{"patient", "late", "slow"} {
		jobs, err := claim(w.Ctx, w.Pool, room, false, time.Minute)
		if err != nil || len(jobs) != 1 || jobs[0].Owner != owners[want] {
			t.Fatalf("%+v, %v, want one of %s", jobs, err, want)
		}
	}
	room.beside = 0
	if jobs, err := claim(w.Ctx, w.Pool, room, false, time.Minute); err != nil || len(jobs) != 0 {
		t.Fatalf("%+v, %v: beside another one of the same owner, without room for such", jobs, err)
	}
}

// TestOneDestinationIsAttemptedOnceAtATime for each owner, by all consoles together, in however many rules it is.
func TestOneDestinationIsAttemptedOnceAtATime(t *testing.T) {
	w := newWorld(t)
	var g gauge
	h := newHook(t, func(out http.ResponseWriter, _ *http.Request) {
		g.add(1)
		time.Sleep(20 * time.Millisecond)
		g.add(-1)
		out.WriteHeader(http.StatusNoContent)
	})
	for n := range 8 {
		d := draft(w.app, h.URL)
		d.Name = fmt.Sprint("rule ", n)
		first, second := h.URL+"/a", h.URL+"/b"
		d.Channels = append(d.Channels, ChannelDraft{Kind: Webhook, URL: &first}, ChannelDraft{Kind: Webhook, URL: &second})
		w.due(w.rule(w.who, d))
	}
	for range 3 {
		w.deliver(patient)
	}
	w.until("delivery", time.Minute, func() bool { return w.Count(`SELECT count(*) FROM alert_deliveries WHERE status <> 'delivered'`) == 0 })
	if _, most := g.read(); most != 1 || len(h.all()) != 24 {
		t.Errorf("%d at a time, %d requests", most, len(h.all()))
	}
}

// TestBoundsHoldForConsolesThatClaimAtTheSameTime, what is new and what was attempted before.
func TestBoundsHoldForConsolesThatClaimAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	for n := range 4 * perOwner {
		d := draft(w.app, fmt.Sprintf("http://host-%d.example.com/", n%(2*perOwner)))
		d.Name = fmt.Sprint("rule ", n)
		w.due(w.rule(w.who, d))
	}
	for range 20 {
		w.Exec(`UPDATE alert_deliveries SET claimed_until = NULL, attempts = (abs(hashtext(id::text)) % 2)`)
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				if _, err := claim(w.Ctx, w.Pool, places{all: 10, beside: 10}, n%2 == 0, time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		claimed := w.Count(`SELECT count(*) FROM alert_deliveries WHERE claimed_until IS NOT NULL`)
		hosts := w.Count(`SELECT count(DISTINCT destination) FROM alert_deliveries WHERE claimed_until IS NOT NULL`)
		if claimed != perOwner || hosts != claimed {
			t.Fatalf("%d claimed of one owner, at %d hosts", claimed, hosts)
		}
	}
}

// TestAMailServerThatHangsHoldsUpNoWebhook, though many owners wait for it.
func TestAMailServerThatHangsHoldsUpNoWebhook(t *testing.T) {
	w := newWorld(t)
	for i := range 2 * perDestination {
		who, app := w.owner(fmt.Sprintf("mailed-%d@example.com", i))
		d := draft(app, "")
		d.Channels = []ChannelDraft{{Kind: Mail}}
		w.due(w.rule(who, d))
	}
	h := newHook(t, nil)
	r := w.rule(w.who, draft(w.app, h.URL))
	var g gauge
	s := w.service(patient)
	s.dispatcher.sender.mail = func(ctx context.Context, _, _, _ string) error {
		g.add(1)
		defer g.add(-1)
		<-ctx.Done()
		return ctx.Err()
	}
	w.Exec(`UPDATE alert_events SET payload = '{"type":"alert.test"}'`)
	w.run(s)
	w.until("mails that hang", time.Minute, func() bool { now, _ := g.read(); return now == perDestination })
	w.due(r)
	w.until("the webhook", time.Minute, func() bool { return w.log(w.who, r)[0].Status == "delivered" })
	if now, most := g.read(); now != perDestination || most != perDestination {
		t.Errorf("%d mails at a time, at most %d, want %d", now, most, perDestination)
	}
}

// over demands that something was refused as too much, with a time to wait.
func over(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.TooManyAttempts || f.RetryAfter <= 0 || f.RetryAfter > time.Minute {
		t.Fatalf("%#v", err)
	}
}

// TestTestsOfAnAccountAreBounded, over all its rules, those that were deleted and all consoles.
func TestTestsOfAnAccountAreBounded(t *testing.T) {
	w := newWorld(t)
	consoles := []*Store{w.Store, New(w.Pool, w.Ring, true, w.administrator)}
	test := func(who Who, app string, n int) error {
		d := draft(app, fmt.Sprintf("http://host-%d.example.com/", n))
		r := w.rule(who, d)
		defer func() {
			if err := w.Delete(w.Ctx, who, r.ID); err != nil {
				t.Fatal(err)
			}
		}()
		_, err := consoles[n%2].Test(w.Ctx, who, r.ID, "")
		return err
	}
	for n := range askedFor.burst {
		if err := test(w.who, w.app, n); err != nil {
			t.Fatalf("test %d: %v", n+1, err)
		}
	}
	for n := range 4 {
		over(t, test(w.who, w.app, 100+n))
	}
	if n := w.Count(`SELECT count(*) FROM audit_log WHERE action = 'alert.test'`); n != askedFor.burst {
		t.Errorf("%d tests are recorded, want %d", n, askedFor.burst)
	}
	other, app := w.owner("other@example.com")
	if err := test(other, app, 0); err != nil {
		t.Errorf("another account: %v", err)
	}
	w.Exec(`UPDATE alert_sends SET free_at = free_at - make_interval(secs => $1)`, askedFor.spacing.Seconds())
	if err := test(w.who, w.app, 200); err != nil {
		t.Errorf("a while later: %v", err)
	}
	over(t, test(w.who, w.app, 201))
}

// TestTestsAndResendsToOneDestinationAreBounded, by the messages that go there.
func TestTestsAndResendsToOneDestinationAreBounded(t *testing.T) {
	w := newWorld(t)
	d := draft(w.app, "")
	d.Channels = nil
	for _, path := range []string{"a", "b", "c", "d", "e"} {
		address := "https://Hooks.example.com/" + path
		d.Channels = append(d.Channels, ChannelDraft{Kind: Webhook, URL: &address})
	}
	r := w.rule(w.who, d)
	done := func() { w.Exec(`UPDATE alert_deliveries SET status = 'delivered'`) }
	for range sentTo.burst/5 - 1 {
		if _, err := w.Test(w.Ctx, w.who, r.ID, ""); err != nil {
			t.Fatal(err)
		}
		done()
	}
	last := w.log(w.who, r)[0].ID
	for range 5 {
		if _, err := w.Resend(w.Ctx, w.who, r.ID, last); err != nil {
			t.Fatal(err)
		}
		done()
	}
	_, err := w.Resend(w.Ctx, w.who, r.ID, last)
	over(t, err)
	if w.log(w.who, r)[0].Status != "delivered" {
		t.Error("what was refused is sent")
	}
	elsewhere := w.rule(w.who, draft(w.app, "https://elsewhere.example.com/"))
	if _, err := w.Test(w.Ctx, w.who, elsewhere.ID, ""); err != nil {
		t.Errorf("another destination: %v", err)
	}
}

// TestAnEventGoesToAnAddressOnce: a rule has no two channels that go to the same.
func TestAnEventGoesToAnAddressOnce(t *testing.T) {
	w := newWorld(t)
	address, other := "https://hooks.example.com/a", "https://hooks.example.com/b"
	for _, twice := range [][]ChannelDraft{{{Kind: Mail}, {Kind: Mail}}, {{Kind: Webhook, URL: &address}, {Kind: Slack, URL: &address}}} {
		d := draft(w.app, "")
		d.Channels = twice
		_, err := w.Create(w.Ctx, w.who, d)
		databasetest.MustFail(t, err, fault.Invalid, "channels")
		if !strings.Contains(err.Error(), "same address") {
			t.Error(err)
		}
	}
	r := w.rule(w.who, draft(w.app, address))
	kept := ChannelDraft{ID: &r.Channels[0].ID, Kind: Webhook}
	channels := []ChannelDraft{kept, {Kind: Webhook, URL: &address}}
	_, err := w.Update(w.Ctx, w.who, r.ID, Edit{Channels: &channels})
	databasetest.MustFail(t, err, fault.Invalid, "channels")
	channels = []ChannelDraft{kept, {Kind: Webhook, URL: &other}, {Kind: Mail}}
	if r, err = w.Update(w.Ctx, w.who, r.ID, Edit{Channels: &channels}); err != nil || len(r.Channels) != 3 {
		t.Errorf("%+v, %v", r.Channels, err)
	}
}
