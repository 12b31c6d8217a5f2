package alerts

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAnUpstreamThatIsLeftOutIsToldAndNamedToAdministratorsOnly: it is told once when it is out for long enough, and once when
// it is back; while nothing is known it stays as it is.
func TestAnUpstreamThatIsLeftOutIsToldAndNamedToAdministratorsOnly(t *testing.T) {
	w := newWorld(t)
	w.now = time.Now()
	of := func(who Who, target TargetType, id string) Rule {
		d := draft(id, "http://127.0.0.1:1/")
		d.Kind, d.TargetType, d.Threshold = UpstreamLeftOut, target, ptr(5.0)
		return w.rule(who, d)
	}
	owners, admins := of(w.who, Application, w.app), of(w.desk, Capability, "gpt")
	if owners.Unit() != "minutes" || owners.ResolveThreshold != 5 || !owners.Enabled {
		t.Errorf("%+v", owners)
	}
	out := func(length time.Duration) {
		one := LeftOut{"GPT", "Europe", length}
		if length == 0 {
			one = LeftOut{}
		}
		w.figures.set(func(f *figures) { f.out = map[string]LeftOut{w.app: one, "gpt": one} })
	}
	expect := func(what string, events ...string) {
		t.Helper()
		for _, r := range []Rule{owners, admins} {
			if told := w.events(r); !slices.Equal(told, events) {
				t.Errorf("%s: told %v, want %v", what, told, events)
			}
		}
	}
	out(4 * time.Minute)
	w.evaluate(3)
	expect("not for long enough")
	out(5 * time.Minute)
	w.evaluate(3)
	expect("for five minutes", "firing")
	w.figures.set(func(f *figures) { f.out = nil })
	w.evaluate(3)
	expect("without a gateway", "firing")
	if s := w.state(owners); s.Unknown != NoData || s.Value != Firing {
		t.Errorf("without a gateway: %+v", s)
	}
	bodies := map[bool]string{}
	for named, r := range map[bool]Rule{false: owners, true: admins} {
		var body []byte
		if err := w.Pool.QueryRow(w.Ctx, `SELECT payload FROM alert_events WHERE rule_id = $1`, r.ID).Scan(&body); err != nil {
			t.Fatal(err)
		}
		_, text, err := letterOf(body)
		if err != nil {
			t.Fatal(err)
		}
		bodies[named] = string(body) + text
		if !strings.Contains(text, "上游被熔断：5 分钟") || !strings.Contains(text, "upstream left out for: 5 min (threshold ≥ 5 min)") || !strings.Contains(text, "能力 / capability GPT") {
			t.Errorf("a letter says %s", text)
		}
	}
	if strings.Contains(bodies[false], "Europe") || !strings.Contains(bodies[true], "上游 / upstream Europe") {
		t.Errorf("an owner is told %s\nan administrator %s", bodies[false], bodies[true])
	}
	out(0)
	w.evaluate(3)
	expect("back", "firing", "resolved")
}

// TestVersionsBeforeDoNotEvaluateUpstreamsLeftOut: they take rules that are enabled, and would take the id of a capability for
// that of an application.
func TestVersionsBeforeDoNotEvaluateUpstreamsLeftOut(t *testing.T) {
	w := newWorld(t)
	d := draft("gpt", "http://127.0.0.1:1/")
	d.Kind, d.TargetType, d.Threshold = UpstreamLeftOut, Capability, ptr(5.0)
	r := w.rule(w.desk, d)
	seen := func(enabled bool) {
		t.Helper()
		kept, err := w.Get(w.Ctx, w.desk, r.ID)
		if err != nil || kept.Enabled != enabled {
			t.Errorf("%+v, %v", kept, err)
		}
		if n := w.Count(`SELECT count(*) FROM alert_rules WHERE enabled`); n != 0 {
			t.Errorf("versions before evaluate %d rules", n)
		}
	}
	seen(true)
	for _, enabled := range []bool{false, true} {
		if _, err := w.Update(w.Ctx, w.desk, r.ID, Edit{Enabled: &enabled}); err != nil {
			t.Fatal(err)
		}
		seen(enabled)
		w.evaluate(1)
		if evaluated := w.state(r).EvaluatedAt != nil; evaluated != enabled {
			t.Errorf("enabled %t, evaluated %t", enabled, evaluated)
		}
	}
}
