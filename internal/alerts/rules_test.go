package alerts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func ptr[T any](v T) *T { return &v }

// TestARuleSaysWhatIsWrongWithIt names every wrong field.
func TestARuleSaysWhatIsWrongWithIt(t *testing.T) {
	w := newWorld(t)
	good := func() Draft { return draft(w.app, "http://127.0.0.1:1/x") }
	for _, c := range []struct {
		who    Who
		change func(*Draft)
		fields []string
	}{
		{w.who, func(d *Draft) { d.Name = " " }, []string{"name"}},
		{w.who, func(d *Draft) { d.Kind = "weather" }, []string{"kind"}},
		{w.who, func(d *Draft) { d.Kind = StatisticsBehind }, []string{"kind"}},
		{w.desk, func(d *Draft) { d.Kind = NoCalls; d.TargetType = Capability; d.TargetID = ptr("gpt") }, []string{"kind"}},
		{w.who, func(d *Draft) { d.TargetType = Capability; d.TargetID = ptr("gpt") }, []string{"targetType"}},
		{w.desk, func(d *Draft) {}, []string{"targetType"}},
		{w.who, func(d *Draft) { d.TargetID = nil }, []string{"targetId"}},
		{w.who, func(d *Draft) { d.Threshold = ptr(0.0) }, []string{"threshold", "resolveThreshold"}},
		{w.who, func(d *Draft) { d.Threshold = ptr(101.0) }, []string{"threshold"}},
		{w.who, func(d *Draft) { d.ResolveThreshold = ptr(21.0) }, []string{"resolveThreshold"}},
		{w.who, func(d *Draft) { d.WindowMinutes = ptr(int64(7)) }, []string{"windowMinutes"}},
		{w.who, func(d *Draft) { d.MinCalls = ptr(int64(0)) }, []string{"minCalls"}},
		{w.who, func(d *Draft) { d.Period = ptr("day") }, []string{"period"}},
		{w.who, func(d *Draft) { d.Kind = Cost; d.Currency = ptr("yuan"); d.Period = ptr("year") }, []string{"currency", "period"}},
		{w.who, func(d *Draft) { d.Kind = LimitUse; d.Limit = ptr("patience"); d.Threshold = ptr(80.0) }, []string{"limit"}},
		{w.who, func(d *Draft) { d.Kind = Cost; d.Currency = ptr("CNY"); d.Period = ptr("week") }, []string{"period"}},
		{w.who, func(d *Draft) { d.Kind = BudgetUse; d.Period = ptr("year"); d.Threshold = ptr(1001.0) }, []string{"period", "threshold"}},
		{w.desk, func(d *Draft) { d.Kind = BudgetUse }, []string{"kind"}},
		{w.who, func(d *Draft) { d.Channels = nil }, []string{"channels"}},
		{w.who, func(d *Draft) { d.Channels = make([]ChannelDraft, 6) }, []string{"channels"}},
		{w.who, func(d *Draft) { d.Channels[0].Secret = ptr("mine") }, []string{"channels"}},
		{w.who, func(d *Draft) { d.Channels[0].ID = ptr(uuid.New()) }, []string{"channels"}},
		{w.who, func(d *Draft) { d.Channels = []ChannelDraft{{Kind: Mail, To: ptr("stranger@example.com")}} }, []string{"channels"}},
		{w.desk, func(d *Draft) {
			d.TargetType, d.TargetID = Capability, ptr("gpt")
			d.Channels = []ChannelDraft{{Kind: Mail, To: ptr("stranger@example.com")}}
		}, []string{"channels"}},
	} {
		d := good()
		c.change(&d)
		_, err := w.Create(w.Ctx, c.who, d)
		databasetest.MustFail(t, err, fault.Invalid, c.fields...)
	}
	if n := w.Count(`SELECT count(*) FROM alert_rules`); n != 0 {
		t.Errorf("%d rules were made", n)
	}
}

// TestEveryKindCanBeMadeAndIsMeasured, with what each is measured by.
func TestEveryKindCanBeMadeAndIsMeasured(t *testing.T) {
	w := newWorld(t)
	app := uuid.MustParse(w.app)
	key := ExpiringKey{ID: uuid.New(), Name: "batch", ExpiresAt: time.Now().Add(60 * time.Hour)}
	w.figures.set(func(f *figures) {
		f.windows = map[string]Window{w.app: window(100, 25), "gpt": window(200, 50), "eu": window(50, 50)}
		f.last[app] = time.Now().Add(-20 * time.Minute)
		f.spent[app] = Spent{Tokens: 5000, Known: true, Costs: map[string]Money{"CNY": {"12.5", 12.5}}, Unpriced: 3}
		f.uses[app] = map[string]Use{"callsPerDay": {Limit: 100, Used: ptr(int64(80))}, "tokensPerDay": {Limit: 100}, "concurrency": {}}
		f.budgets = map[uuid.UUID]map[string]BudgetSpent{app: {"week": {From: 20_000, Spent: "8.05", Amount: "10", Currency: "CNY", Percent: 80.5, Unknown: 2}}}
		f.keys[app] = key
		f.out = map[string]LeftOut{w.app: {"GPT", "Europe", 6 * time.Minute}, "gpt": {}}
		f.standing = Standing{Through: time.Now(), SpoolID: uuid.New(), Host: "gateway-1", SilentFor: 3 * time.Minute}
	})
	of := func(kind Kind, threshold float64, change ...func(*Draft)) Draft {
		d := draft(w.app, "http://127.0.0.1:1/")
		d.Name, d.Kind, d.Threshold = string(kind), kind, &threshold
		for _, c := range change {
			c(&d)
		}
		return d
	}
	on := func(t TargetType, id string) func(*Draft) {
		return func(d *Draft) { d.TargetType, d.TargetID = t, &id }
	}
	for _, c := range []struct {
		who  Who
		d    Draft
		want float64 // measured; below 0: nothing
		why  string
	}{
		{w.who, of(FailureRate, 20), 25, ""},
		{w.who, of(P95, 80), 100, ""},
		{w.who, of(NoCalls, 15), -1, ""}, // measured since it was made
		{w.who, of(Tokens, 4000), 5000, ""},
		{w.who, of(Cost, 10, func(d *Draft) { d.Currency, d.Period = ptr("CNY"), ptr("month") }), 12.5, ""},
		{w.who, of(LimitUse, 80, func(d *Draft) { d.Limit = ptr("callsPerDay") }), 80, ""},
		{w.who, of(LimitUse, 50, func(d *Draft) { d.Limit = ptr("tokensPerDay") }), -1, NoData},
		{w.who, of(LimitUse, 50, func(d *Draft) { d.Limit = ptr("concurrency") }), 0, ""},
		{w.who, of(BudgetUse, 80, func(d *Draft) { d.Period = ptr("week") }), 80.5, ""},
		{w.who, of(BudgetUse, 120), 0, ""},
		{w.who, of(KeyExpiry, 3), 2.5, ""},
		{w.desk, of(FailureRate, 20, on(Capability, "gpt")), 25, ""},
		{w.desk, of(FailureRate, 20, on(Upstream, "eu")), 100, ""},
		{w.desk, of(P95, 20, on(Upstream, "eu")), 100, ""},
		{w.who, of(UpstreamLeftOut, 5), 6, ""},
		{w.desk, of(UpstreamLeftOut, 5, on(Capability, "gpt")), 0, ""},
		{w.desk, of(UpstreamLeftOut, 5, on(Upstream, "eu")), -1, NoData},
		{w.desk, of(StatisticsBehind, 60, on(Platform, "")), -1, ""},
		{w.desk, of(SpoolStuck, 2, on(Platform, "")), 3, ""},
	} {
		r := w.rule(c.who, c.d)
		w.evaluate(1)
		s := w.state(r)
		if s.Unknown != c.why || c.want >= 0 && (s.Measured == nil || *s.Measured < c.want-0.01 || *s.Measured > c.want+0.01) {
			t.Errorf("%s: %+v, measured %v, want %g", r.Kind, s, s.Measured, c.want)
		}
	}
	w.figures.set(func(f *figures) { delete(f.keys, app) })
	w.evaluate(1)
	if n := w.Count(`SELECT count(*) FROM alert_states s JOIN alert_rules r ON r.id = s.rule_id WHERE r.kind = 'keyExpiry' AND s.unknown = ''`); n != 1 {
		t.Errorf("no key that expires is no answer")
	}
}

// TestAnOwnerHasSoManyRulesAndReachesNobodyElses: list, edit, delete, log, test, resend and secrets.
func TestAnOwnerHasSoManyRulesAndReachesNobodyElses(t *testing.T) {
	w := newWorld(t)
	other, theirApp := w.owner("other@example.com")
	for i := range MaxPerOwner {
		d := draft(w.app, "http://127.0.0.1:1/")
		d.Name = fmt.Sprint("rule ", i)
		w.rule(w.who, d)
	}
	_, err := w.Create(w.Ctx, w.who, draft(w.app, "http://127.0.0.1:1/"))
	databasetest.MustFail(t, err, fault.Conflict)
	_, err = w.Create(w.Ctx, other, draft(w.app, "http://127.0.0.1:1/"))
	databasetest.MustFail(t, err, fault.Invalid, "targetId")
	theirs := w.rule(other, draft(theirApp, "http://127.0.0.1:1/"))
	for _, who := range []Who{w.who, w.desk} {
		_, err = w.Update(w.Ctx, who, theirs.ID, Edit{Name: ptr("x")})
		databasetest.MustFail(t, err, fault.NotFound)
		databasetest.MustFail(t, w.Delete(w.Ctx, who, theirs.ID), fault.NotFound)
		_, _, err = w.Log(w.Ctx, who, theirs.ID, 1, 10)
		databasetest.MustFail(t, err, fault.NotFound)
		_, err = w.Test(w.Ctx, who, theirs.ID, "")
		databasetest.MustFail(t, err, fault.NotFound)
		_, err = w.Secret(w.Ctx, who, theirs.ID, theirs.Channels[0].ID)
		databasetest.MustFail(t, err, fault.NotFound)
	}
	mine, most, err := w.List(w.Ctx, w.who)
	if err != nil || len(mine) != MaxPerOwner || most != MaxPerOwner {
		t.Errorf("%d rules of at most %d, %v", len(mine), most, err)
	}
	_, err = w.Secret(w.Ctx, w.who, mine[0].ID, theirs.Channels[0].ID)
	databasetest.MustFail(t, err, fault.NotFound)

	w.Exec(`DELETE FROM applications WHERE id = $1`, uuid.MustParse(w.app))
	if mine, _, err = w.List(w.Ctx, w.who); err != nil || len(mine) != 0 {
		t.Errorf("%d rules of a deleted application, %v", len(mine), err)
	}
}

// TestAnEditIsRecordedAndKeepsWhatItDoesNotName: no URL or secret is in what is recorded.
func TestAnEditIsRecordedAndKeepsWhatItDoesNotName(t *testing.T) {
	w := newWorld(t)
	r := w.rule(w.who, draft(w.app, "http://127.0.0.1:1/hook-canary?k=hook-canary"))
	if r.ResolveThreshold != 16 || r.WindowMinutes != 5 || r.MinCalls != 20 || !r.Enabled {
		t.Errorf("%+v", r)
	}
	secret, err := w.Secret(w.Ctx, w.who, r.ID, r.Channels[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	channels := []ChannelDraft{{ID: &r.Channels[0].ID, Kind: Webhook}, {Kind: Mail}}
	edited, err := w.Update(w.Ctx, w.who, r.ID, Edit{Threshold: ptr(30.0), Enabled: ptr(false), Channels: &channels, SilencedUntil: ptr("2090-01-01T00:00:00+08:00")}, r.UpdatedAt.Truncate(time.Millisecond))
	if err != nil || edited.Threshold != 30 || edited.ResolveThreshold != 24 || edited.Enabled || edited.SilencedUntil == nil || len(edited.Channels) != 2 {
		t.Fatalf("%+v, %v", edited, err)
	}
	if again, err := w.Secret(w.Ctx, w.who, r.ID, r.Channels[0].ID); err != nil || again != secret {
		t.Errorf("the secret has changed: %v", err)
	}
	stale, err := w.Update(w.Ctx, w.who, r.ID, Edit{Name: ptr("late")}, r.UpdatedAt.Truncate(time.Millisecond))
	databasetest.MustFail(t, err, fault.Changed)
	if stale.Name != r.Name {
		t.Errorf("%+v", stale)
	}
	w.evaluate(1)
	if s := w.state(r); s.EvaluatedAt != nil {
		t.Errorf("a disabled rule was evaluated: %+v", s)
	}
	if err := w.Delete(w.Ctx, w.who, r.ID); err != nil {
		t.Fatal(err)
	}
	var trail string
	if err := w.Pool.QueryRow(w.Ctx, `SELECT string_agg(action || ' ' || changes::text, E'\n' ORDER BY id) FROM audit_log WHERE target_type = 'alert'`).Scan(&trail); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"alert.create", "alert.update", "alert.reveal_secret", "alert.delete"} {
		if !strings.Contains(trail, action) {
			t.Errorf("%s is not recorded:\n%s", action, trail)
		}
	}
	if strings.Contains(trail, "canary") || strings.Contains(trail, secret) {
		t.Errorf("the trail tells a secret:\n%s", trail)
	}
}
