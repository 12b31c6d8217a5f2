package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestConsolesKilledWhileCausesComeAndGoTellEachChangeOnce kills consoles, as processes, at random moments (ALERT_KILLS of them, make
// chaos) while causes of ten rules come and go, at endpoints that fail, hang, answer late, or answer nothing to what they took.
// Every change arrives at least once at each, under one id, with its number; none is lost, and none made up.
func TestConsolesKilledWhileCausesComeAndGoTellEachChangeOnce(t *testing.T) {
	kills := 12
	if text := os.Getenv("ALERT_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("ALERT_KILLS: %v", err)
		}
	}
	w := newWorld(t)
	w.Exec(`CREATE TABLE test_causes (id text PRIMARY KEY, failures bigint NOT NULL)`)
	random := rand.New(rand.NewPCG(uint64(kills), 19))
	hooks := []*hook{newHook(t, nil), newHook(t, trouble(random.Uint64())), newHook(t, trouble(random.Uint64()))}
	const rules = 10
	watched, expected := make([]Rule, rules), make([]int, rules)
	for i := range watched {
		app := uuid.New()
		w.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, $3)`, app, w.who.Owner, fmt.Sprint("app ", i))
		w.Exec(`INSERT INTO test_causes VALUES ($1, 0)`, app.String())
		d := draft(app.String(), "")
		d.Channels = nil
		for _, h := range hooks {
			d.Channels = append(d.Channels, ChannelDraft{Kind: Webhook, URL: &h.URL})
		}
		watched[i] = w.rule(w.who, d)
	}
	f := &fleet{w: w, consoles: make([]*exec.Cmd, 3)}
	for i := range f.consoles {
		f.start(i)
	}
	t.Cleanup(func() {
		for i := range f.consoles {
			f.kill(i)
		}
	})
	counted := func(i int) int {
		return w.Count(`SELECT sequence FROM alert_states WHERE rule_id = $1`, watched[i].ID)
	}
	longest := time.Duration(0)
	for f.killed < kills {
		i := random.IntN(rules)
		began := time.Now()
		w.Exec(`UPDATE test_causes SET failures = 50 - failures WHERE id = $1`, *watched[i].Target.ID)
		expected[i]++
		for counted(i) < expected[i] { // the next cause of the rule comes when this one is told
			if random.IntN(8) == 0 && f.killed < kills {
				at := random.IntN(len(f.consoles))
				f.kill(at)
				f.start(at)
			}
			if time.Since(began) > 30*time.Second {
				t.Fatalf("a change of %s was not told within 30 s; %d kills", watched[i].Name, f.killed)
			}
			time.Sleep(20 * time.Millisecond)
		}
		longest = max(longest, time.Since(began))
	}
	w.until("delivery of everything", time.Minute+time.Duration(kills)*time.Second, func() bool {
		return w.Count(`SELECT count(*) FROM alert_deliveries WHERE status <> 'delivered'`) == 0
	})
	changes := 0
	for i, r := range watched {
		kinds := w.events(r)
		changes += len(kinds)
		if len(kinds) != expected[i] {
			t.Errorf("%d causes came or went, %d events", expected[i], len(kinds))
		}
		for n, kind := range kinds {
			if want := []string{"firing", "resolved"}[n%2]; kind != want {
				t.Errorf("event %d of a rule is %s, want %s", n+1, kind, want)
			}
		}
	}
	sent := 0
	for _, h := range hooks {
		sent += arrived(t, w, h, watched, expected)
	}
	t.Logf("%d kills, %d changes, %d requests at %d endpoints (%d if each came once), longest until told %s",
		f.killed, changes, sent, len(hooks), changes*len(hooks), longest.Round(time.Millisecond))
}

// trouble is an endpoint that fails, hangs, answers late or takes without an answer, each at times.
func trouble(seed uint64) func(http.ResponseWriter, *http.Request) {
	chances := make(chan *rand.Rand, 1)
	chances <- rand.New(rand.NewPCG(seed, 0))
	return func(out http.ResponseWriter, in *http.Request) {
		random := <-chances
		chance := random.IntN(8)
		chances <- random
		switch chance {
		case 0:
			out.WriteHeader(http.StatusInternalServerError)
		case 1:
			<-in.Context().Done()
		case 2:
			time.Sleep(700 * time.Millisecond)
			out.WriteHeader(http.StatusOK)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			out.WriteHeader(http.StatusAccepted)
		}
	}
}

// arrived checks what an endpoint was sent, and gives how much that was.
func arrived(t *testing.T, w *world, h *hook, watched []Rule, expected []int) int {
	t.Helper()
	ids, bodies := map[string]string{}, map[string]string{}
	for _, got := range h.all() {
		var body struct {
			Type string
			Data struct {
				Sequence int
				Rule     struct{ ID string }
			}
		}
		if err := json.Unmarshal(got.body, &body); err != nil {
			t.Fatalf("%s: %v", got.body, err)
		}
		change, id := body.Data.Rule.ID+" "+strconv.Itoa(body.Data.Sequence), got.header.Get("webhook-id")
		if ids[change] != "" && ids[change] != id || bodies[id] != "" && bodies[id] != string(got.body) {
			t.Errorf("%s came under %s and %s", change, ids[change], id)
		}
		if want := []string{"alert.resolved", "alert.firing"}[body.Data.Sequence%2]; body.Type != want {
			t.Errorf("change %d is %s", body.Data.Sequence, body.Type)
		}
		ids[change], bodies[id] = id, string(got.body)
	}
	for i, r := range watched {
		at := slices.IndexFunc(r.Channels, func(c Channel) bool { return strings.HasPrefix(h.URL, c.Destination) })
		key, err := w.Secret(w.Ctx, w.who, r.ID, r.Channels[at].ID)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= expected[i]; n++ {
			if ids[r.ID.String()+" "+strconv.Itoa(n)] == "" {
				t.Errorf("change %d of a rule did not come", n)
			}
		}
		if last := h.all(); len(last) > 0 && i == 0 {
			for _, got := range last {
				if strings.Contains(string(got.body), r.ID.String()) && !verifies(t, key, got) {
					t.Error("a signature does not verify")
				}
			}
		}
	}
	if made := len(ids); made != sum(expected) {
		t.Errorf("%d different changes came, %d there were", made, sum(expected))
	}
	return len(h.all())
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// TestFromCauseToMessageInAMinute at the usual pace: the evaluating console is killed when the cause comes, the one that delivers
// while it does.
func TestFromCauseToMessageInAMinute(t *testing.T) {
	w := newWorld(t)
	h := newHook(t, nil)
	r := w.rule(w.who, draft(w.app, h.URL))
	first, err := Start(w.config())
	if err != nil {
		t.Fatal(err)
	}
	w.until("a first evaluation", time.Minute, func() bool { return w.state(r).EvaluatedAt != nil })
	second, err := Start(w.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close(t.Context()) })
	w.figures.set(func(f *figures) { f.windows[w.app] = window(100, 50) })
	began := time.Now()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	first.Close(gone)
	w.until("the message", time.Minute, func() bool { return len(h.all()) > 0 })
	t.Logf("from cause to message: %s", time.Since(began).Round(time.Millisecond))
}

func (w *world) config() Config {
	return Config{
		Pool: w.Pool, Ring: w.Ring, Source: w.figures, Administrator: w.administrator, AllowPrivate: true,
		Pages: "https://callgate.example", Logger: slog.New(slog.DiscardHandler),
		Mail: func(context.Context, string, string, string) error { return nil },
	}
}
