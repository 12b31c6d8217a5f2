package gateway

import (
	"slices"
	"strings"
	"testing"

	"callgate/internal/calls"
)

// TestWhatACallerSaysOfACallIsKeptAndGoesNowhereElse, and what cannot be kept is left out, with a word of it in the answer. No call
// fails for it.
func TestWhatACallerSaysOfACallIsKeptAndGoesNowhereElse(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) { c.EndUser = func(id string) string { return "kept " + id } })
	team := calls.Tag{Name: "team", Value: "search"}
	for _, test := range []struct {
		headers []string
		tags    []calls.Tag
		user    string
		ignored string
	}{
		{headers: nil},
		{headers: []string{"X-Callgate-Tags: team=search", "X-Callgate-User: u-1"}, tags: []calls.Tag{team}, user: "kept u-1"},
		{headers: []string{"x-callgate-tags: team = search ,feature=a b=c", "X-CALLGATE-TAGS: env=süd"}, tags: []calls.Tag{{Name: "env", Value: "süd"}, {Name: "feature", Value: "a b=c"}, team}},
		{headers: []string{"X-Callgate-Tags: ", "X-Callgate-User: "}},
		{headers: []string{"X-Callgate-Tags: team=search,team=other,Team=x,te am=x,=x,team,x=,z=\xff,z=a\u202eb," + strings.Repeat("n", 33) + "=x,v=" + strings.Repeat("x", 65)}, tags: []calls.Tag{team}, ignored: "tags=10, user=0"},
		{headers: []string{"X-Callgate-Tags: a=1,b=2,c=3,d=4,e=5,f=6"}, tags: []calls.Tag{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "c", Value: "3"}, {Name: "d", Value: "4"}, {Name: "e", Value: "5"}}, ignored: "tags=1, user=0"},
		{headers: []string{"X-Callgate-Tags: v=" + strings.Repeat("語", 64), "X-Callgate-User: " + strings.Repeat("ü", 128)}, tags: []calls.Tag{{Name: "v", Value: strings.Repeat("語", 64)}}, user: "kept " + strings.Repeat("ü", 128)},
		{headers: []string{"X-Callgate-User: " + strings.Repeat("u", 129)}, ignored: "tags=0, user=1"},
		{headers: []string{"X-Callgate-User: a", "X-Callgate-User: b"}, ignored: "tags=0, user=1"},
		{headers: []string{"X-Callgate-User: a\u200bb", "X-Callgate-Tags: team=search"}, tags: []calls.Tag{team}, ignored: "tags=0, user=1"},
		{headers: []string{"X-Callgate-Tags: team=search,key=" + goodKey, "X-Callgate-User: " + goodKey}, ignored: "tags=2, user=1"},
	} {
		for path, status := range map[string]int{"/gateway/v1?model=m": 200, "/gateway/v1?model=unbound": 403} {
			a := r.ask(post(path, goodKey, "{}", test.headers...))
			record := r.record()
			if a.StatusCode != status || a.Header.Get("X-Callgate-Ignored") != test.ignored || !slices.Equal(record.Tags, test.tags) || record.EndUser != test.user {
				t.Errorf("%q: %d, ignored %q, tags %q, user %q", test.headers, a.StatusCode, a.Header.Get("X-Callgate-Ignored"), record.Tags, record.EndUser)
			}
			if status == 200 {
				for _, header := range r.next().headers {
					if strings.HasPrefix(strings.ToLower(header), "x-callgate") {
						t.Errorf("the upstream is sent %q", header)
					}
				}
			}
		}
	}
}

// TestWhoACallIsForIsKeptOnlyWhereTheOperatorWantsIt.
func TestWhoACallIsForIsKeptOnlyWhereTheOperatorWantsIt(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	a := r.ask(post("/gateway/v1?model=m", goodKey, "{}", "X-Callgate-User: u-1"))
	if record := r.record(); a.StatusCode != 200 || record.EndUser != "" || a.Header.Get("X-Callgate-Ignored") != "" {
		t.Errorf("%d, user %q, ignored %q", a.StatusCode, record.EndUser, a.Header.Get("X-Callgate-Ignored"))
	}
}
