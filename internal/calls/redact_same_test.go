package calls

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// sameAsReference compares what is made of an input with what the reference makes of it.
func sameAsReference(in FailureInput) (got, want string, same bool) {
	got, want = shownWhole(NewFailure(in)), shownWhole(refFailure(in))
	return got, want, got == want
}

func shownWhole(f *Failure) string { return show(f) + "\n" + string(f.BodyNote) }

func TestRedactionIsWhatItWasBeforeItWasLinear(t *testing.T) {
	different := 0
	check := func(what string, in FailureInput) {
		if got, want, same := sameAsReference(in); !same {
			if different++; different <= 10 {
				t.Errorf("%s:\nbody %q\nquery %q\npath %q\nbecame %q\nbefore %q", what, in.Body, in.RawQuery, in.Path, got, want)
			}
		}
	}
	for seed := range uint64(numberFrom("REDACTION_SAME", 10_000)) {
		p := &planter{Rand: rand.New(rand.NewPCG(seed, 12))}
		p.core = "z" + p.pick(letters+"0123456789", 22) + "7"
		check("planted", p.failure())
		h := seeds[p.IntN(len(seeds))]
		for range 1 + p.IntN(12) {
			h = h.mutated(p.Rand)
		}
		check("hostile", h.input(20+p.IntN(600)))
	}
	if different > 0 {
		t.Errorf("%d are different", different)
	}
}

func FuzzRedactionIsWhatItWasBeforeItWasLinear(f *testing.F) {
	f.Add(`{"a":["sk-abcdefghijklmnop1234"],"name":"token","value":1}`, "a=1&token=x&a=2", "/v1/%3D", "cafe")
	for _, h := range seeds {
		in := h.input(200)
		f.Add(string(in.Body), in.RawQuery, in.Path, "")
	}
	f.Fuzz(func(t *testing.T, body, query, path, secret string) {
		in := request(body[:min(len(body), maxBody)])
		in.RawQuery, in.Path, in.Secrets = query, path, []string{secret}
		// Two differences are meant: the number of parameters is bounded now, and a label that stands
		// across the edge of its window is read whole (labels.go), where it was cut.
		label := len(body)+len(query)+len(path) > labelWindow && strings.Contains(strings.ToLower(body+query+path), "value")
		if got, want, same := sameAsReference(in); !same && !label && strings.Count(query, "&") < maxParameters {
			t.Errorf("became %q\nbefore %q", got, want)
		}
	})
}
