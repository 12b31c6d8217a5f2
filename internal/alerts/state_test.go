package alerts

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

func window(calls, failures int64) Window {
	return Window{Calls: calls, Failures: failures, P95Ms: 100}
}

// TestFiringAndResolvedAreToldOnceEachAfterTwoEvaluations has a cause come, stay, waver and go.
func TestFiringAndResolvedAreToldOnceEachAfterTwoEvaluations(t *testing.T) {
	w := newWorld(t)
	r := w.rule(w.who, draft(w.app, newHook(t, nil).URL))
	w.now = time.Now()
	steps := []struct {
		window Window
		want   []string
	}{
		{window(100, 5), nil},
		{window(100, 40), nil}, // once is not enough
		{window(100, 5), nil},
		{window(100, 40), nil},
		{window(100, 20), []string{"firing"}}, // at the threshold, twice
		{window(100, 40), []string{"firing"}},
		{window(100, 17), []string{"firing"}}, // between the thresholds
		{window(100, 17), []string{"firing"}},
		{window(100, 15), []string{"firing"}},
		{window(100, 40), []string{"firing"}},
		{window(100, 15), []string{"firing"}},
		{window(100, 1), []string{"firing", "resolved"}},
		{window(100, 1), []string{"firing", "resolved"}},
	}
	for i, step := range steps {
		w.figures.set(func(f *figures) { f.windows[w.app] = step.window })
		w.evaluate(1)
		if got := w.events(r); !slices.Equal(got, step.want) {
			t.Fatalf("step %d (%d of %d failed): %v, want %v", i, step.window.Failures, step.window.Calls, got, step.want)
		}
	}
	if s := w.state(r); s.Value != OK || s.Sequence != 2 || *s.Figures.Failures != 1 || s.Unknown != "" {
		t.Errorf("state %+v", s)
	}
}

// TestMissingDataIsNoChange: statistics behind, stores away and windows without calls leave every state as it is.
func TestMissingDataIsNoChange(t *testing.T) {
	w := newWorld(t)
	r := w.rule(w.who, draft(w.app, newHook(t, nil).URL))
	w.now = time.Now()
	keep := func(want Value, why string, missing func(*figures)) {
		t.Helper()
		w.figures.set(missing)
		before := len(w.events(r))
		w.evaluate(1)
		if s := w.state(r); s.Value != want || s.Unknown != why || len(w.events(r)) != before {
			t.Fatalf("%s: %+v", why, s)
		}
	}
	for _, want := range []Value{OK, Firing} {
		keep(want, NoStore, func(f *figures) { f.fail = errAway })
		keep(want, NoStore, func(f *figures) {})
		keep(want, NoData, func(f *figures) { f.fail = nil; delete(f.windows, w.app) })
		keep(want, NoData, func(f *figures) {})
		if want == OK { // too few calls do not begin to fire
			w.figures.set(func(f *figures) { f.windows[w.app] = window(19, 19) })
			w.evaluate(3)
			if got := w.events(r); len(got) != 0 {
				t.Fatalf("19 calls fired: %v", got)
			}
			w.figures.set(func(f *figures) { f.windows[w.app] = window(20, 19) })
			w.evaluate(2)
			if got := w.events(r); len(got) != 1 {
				t.Fatalf("20 calls did not fire: %v", got)
			}
		}
	}
	w.figures.set(func(f *figures) { f.standing.Through = w.now.Add(-time.Minute) })
	watched := &Rule{ID: uuid.New(), Kind: FailureRate, Target: Target{Type: Application, ID: &w.app}, WindowMinutes: 5}
	for _, found := range measure(t.Context(), w.figures, []*Rule{watched}, w.now) {
		if found.Unknown != Behind {
			t.Errorf("a minute behind: %+v", found)
		}
	}
}

// TestADayOfNoiseBelowTheThresholdIsQuiet evaluates 200 rules every 10 s of a day, on figures that come as near to firing as they may:
// up to the threshold but for a hair, beyond it for a single evaluation, or with too few calls.
func TestADayOfNoiseBelowTheThresholdIsQuiet(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 0))
	now := time.Now()
	const rules, rounds = 200, 24 * 60 * 6
	for range rules {
		r := &Rule{Kind: FailureRate, Threshold: 20, ResolveThreshold: 16, MinCalls: 20}
		s, beyond := State{Value: OK}, false
		for range rounds {
			m := Measure{Value: 19.999 * random.Float64()}
			if !beyond && random.IntN(10) == 0 {
				m.Value = 20 + 80*random.Float64()
			} else if random.IntN(10) == 0 {
				m = Measure{Value: 100, Few: true}
			} else if random.IntN(20) == 0 {
				m = Measure{Unknown: Behind}
			}
			if m.Unknown == "" {
				beyond = r.breached(m.Value) && !m.Few
			}
			now = now.Add(10 * time.Second)
			if s = s.next(r, m, now); s.Value != OK {
				t.Fatalf("fired on %+v", m)
			}
		}
	}
	t.Logf("%d evaluations, 0 changes", rules*rounds)
}

// TestASilencedRuleTellsWhatHasChangedWhenItsSilenceEnds, and nothing of what came and went meanwhile.
func TestASilencedRuleTellsWhatHasChangedWhenItsSilenceEnds(t *testing.T) {
	w := newWorld(t)
	r := w.rule(w.who, draft(w.app, newHook(t, nil).URL))
	w.now = time.Now()
	silence := func(until time.Time) {
		t.Helper()
		w.Exec(`UPDATE alert_rules SET silenced_until = $2, updated_at = clock_timestamp() WHERE id = $1`, r.ID, until)
	}
	set := func(failures int64) {
		w.figures.set(func(f *figures) { f.windows[w.app] = window(100, failures) })
	}
	silence(w.now.Add(time.Minute))
	set(50)
	w.evaluate(2)
	set(0)
	w.evaluate(2)
	if got := w.events(r); len(got) != 0 || w.state(r).Value != OK {
		t.Fatalf("told while silenced: %v", got)
	}
	set(50)
	w.evaluate(2) // the minute is over with the last
	if got := w.events(r); !slices.Equal(got, []string{"firing"}) {
		t.Fatalf("after the silence: %v", got)
	}
	silence(w.now.Add(time.Hour))
	set(0)
	w.evaluate(3)
	if got := w.events(r); len(got) != 1 || w.state(r).Value != OK || w.state(r).Told != Firing {
		t.Fatalf("told while silenced: %v", got)
	}
	silence(w.now)
	w.evaluate(1)
	if got := w.events(r); !slices.Equal(got, []string{"firing", "resolved"}) {
		t.Fatalf("after the second silence: %v", got)
	}
}
