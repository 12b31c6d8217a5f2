package identity

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate/internal/fault"
)

// timed is how long each of two things took, tried in turns, so that what else the machine does
// falls on both alike.
type timed struct{ listed, unlisted []time.Duration }

func (t *timed) add(listed bool, took time.Duration) {
	if listed {
		t.listed = append(t.listed, took)
	} else {
		t.unlisted = append(t.unlisted, took)
	}
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// differ tells two medians apart when they are further from each other than one is noisy: than half
// the distance between its quartiles.
func (t *timed) differ() bool {
	apart := (median(t.listed) - median(t.unlisted)).Abs()
	spread := t.listed[len(t.listed)*3/4] - t.listed[len(t.listed)/4]
	return apart > spread/2 && apart > 50*time.Microsecond
}

func TestListedAndUnlistedAdministratorsTakeTheSameTime(t *testing.T) {
	const rounds = 150
	emails := make([]string, rounds)
	for i := range emails {
		emails[i] = fmt.Sprintf("root-%03d@example.com", i)
	}
	w := newWorld(t, func(c *Config) { c.AdminEmails = emails })
	measure := func() (codes, tries timed) {
		for i, email := range emails {
			// Which one comes first changes, and every client is another one.
			for _, listed := range []bool{i%2 == 0, i%2 != 0} {
				address, client := email, fmt.Sprintf("198.51.100.%d", i)
				if !listed {
					address, client = "no-"+email, fmt.Sprintf("192.0.2.%d", i)
				}
				start := time.Now()
				if err := w.SendCode(t.Context(), Admin, address, client); err != nil {
					t.Fatal(err)
				}
				codes.add(listed, time.Since(start))
				start = time.Now()
				_, err := w.LogIn(t.Context(), Admin, address, "not it", client, agent)
				tries.add(listed, time.Since(start))
				wantKind(t, err, fault.BadCredential)
			}
		}
		return codes, tries
	}
	// One measurement of three may be spoilt by the machine; a way to tell them would spoil all.
	for attempt := 1; ; attempt++ {
		codes, tries := measure()
		t.Logf("medians of %d, listed and unlisted: asking for a code %v and %v, a wrong code %v and %v", rounds,
			median(codes.listed), median(codes.unlisted), median(tries.listed), median(tries.unlisted))
		if !codes.differ() && !tries.differ() {
			return
		}
		if attempt == 3 {
			t.Fatal("listed and unlisted addresses can be told apart")
		}
		w.pass(time.Hour)
	}
}
