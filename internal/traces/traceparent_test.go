package traces

import (
	"strings"
	"testing"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	callers = "00-" + traceID + "-" + spanID + "-01"
)

func TestOnlyATraceparentOfTheStandardIsJoined(t *testing.T) {
	tracer := Tracer{}
	for header, joins := range map[string]bool{
		callers:                                  true,
		strings.TrimSuffix(callers, "1") + "0":   true,
		strings.TrimSuffix(callers, "01") + "ff": true,
		"cc" + callers[2:]:                       true, // of a version to come
		"cc" + callers[2:] + "-more":             true,
		"cc" + callers[2:] + "more":              false,
		callers + "-more":                        false,
		"ff" + callers[2:]:                       false,
		callers[:54]:                             false,
		"":                                       false,
		strings.ToUpper(callers):                 false,
		strings.ReplaceAll(callers, "-", "_"):    false,
		"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01":  false,
		"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01": false,
		"00-" + traceID[:31] + "x-" + spanID + "-01":            false,
		"00-" + traceID + "-" + spanID + "-0x":                  false,
	} {
		c := tracer.Begin([]byte(header))
		if joined := c.Trace.String() == traceID; joined != joins {
			t.Errorf("%q joined: %v", header, joined)
		}
		if sampled := joins && !strings.HasSuffix(header, "-00"); c.Sampled() != sampled {
			t.Errorf("%q sampled: %v", header, c.Sampled())
		}
	}
}

func TestTheUpstreamIsToldTheCallAsParentInTheSameTrace(t *testing.T) {
	tracer := Tracer{}
	c := tracer.Begin([]byte(callers))
	told, sampled, ok := parse(c.AppendTraceparent(nil))
	if !ok || !sampled || told.Trace != c.Trace || told.Parent != c.Span || c.Span == c.Parent {
		t.Errorf("%s of %+v", c.AppendTraceparent(nil), c)
	}
}

func TestTheRatioOfCallsWithoutATraceBeginsOne(t *testing.T) {
	for _, ratio := range []float64{0, 0.01, 1} {
		tracer := Tracer{config: Config{Ratio: ratio}}
		const calls = 100_000
		seen := map[[16]byte]bool{}
		for range calls {
			if c := tracer.Begin(nil); c.Sampled() {
				seen[c.Trace] = true
			} else if c != (Context{}) {
				t.Fatalf("not sampled, yet %+v", c)
			}
		}
		if n, want := float64(len(seen)), ratio*calls; n < 0.8*want || n > 1.2*want {
			t.Errorf("%v: %v traces of %d calls", ratio, n, calls)
		}
	}
}

func TestBeginningDoesNotAllocate(t *testing.T) {
	tracer := Tracer{config: Config{Ratio: 1}}
	header := []byte(callers)
	if n := testing.AllocsPerRun(1000, func() { tracer.Begin(header); tracer.Begin(nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add([]byte(callers))
	f.Add([]byte("cc" + callers[2:] + "-x"))
	f.Fuzz(func(t *testing.T, header []byte) {
		c, _, ok := parse(header)
		if !ok {
			return
		}
		if !ValidTraceID(c.Trace.String()) || !strings.Contains(string(header), c.Trace.String()) {
			t.Errorf("%q is of the trace %s", header, c.Trace.String())
		}
	})
}
