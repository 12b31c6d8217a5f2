package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
)

func TestEachCallIsALineUnderItsIdWithoutWhatItCarried(t *testing.T) {
	var lines bytes.Buffer
	l := NewCallLog(&lines, AllCalls, prometheus.NewRegistry())
	failed, succeeded := callstest.Failed(time.Now()), callstest.Success(time.Now())
	failed.Trace = [16]byte{15: 1}
	failed.Unredacted = &calls.FailureInput{Path: "/secret/path"}
	l.Add(failed)
	l.Add(succeeded)
	l.Close()
	found := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
	if len(found) != 2 {
		t.Fatalf("%d lines: %s", len(found), lines.String())
	}
	for i, r := range []*calls.Record{failed, succeeded} {
		var line map[string]any
		if err := json.Unmarshal([]byte(found[i]), &line); err != nil {
			t.Fatal(err)
		}
		if line["callId"] != r.CallID.String() || line["applicationId"] != r.ApplicationID.String() || line["success"] != r.Success ||
			line["statusCode"] != float64(r.StatusCode) || line["durationMs"] != float64(r.Duration.Milliseconds()) {
			t.Errorf("%s of %+v", found[i], r)
		}
		if (line["reasonCode"] == string(r.ReasonCode)) == r.Success || (line["traceId"] == strings.Repeat("0", 31)+"1") == r.Success {
			t.Errorf("%s", found[i])
		}
		for _, private := range []string{"secret", failed.Failure.Path, string(failed.Failure.RequestBody)} {
			if private != "" && strings.Contains(found[i], private) {
				t.Errorf("%q is in %s", private, found[i])
			}
		}
	}
}

func TestOnlyFailedCallsAreLines(t *testing.T) {
	var lines bytes.Buffer
	l := NewCallLog(&lines, FailedCalls, prometheus.NewRegistry())
	l.Add(callstest.Success(time.Now()))
	l.Add(callstest.Failed(time.Now()))
	l.Close()
	if n := strings.Count(lines.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, lines.String())
	}
	if NewCallLog(&lines, NoCalls, prometheus.NewRegistry()) != nil {
		t.Error("off is a log")
	}
}

// stuck takes a line when it is let.
type stuck chan struct{}

func (s stuck) Write(p []byte) (int, error) {
	<-s
	return len(p), nil
}

func TestALogThatNobodyReadsHoldsUpNoCall(t *testing.T) {
	to := make(stuck)
	l := NewCallLog(to, AllCalls, prometheus.NewRegistry())
	r := callstest.Success(time.Now())
	began := time.Now()
	for range 2 * callQueue {
		l.Add(r)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("%d calls waited %v", 2*callQueue, took)
	}
	if dropped := testutil.ToFloat64(l.dropped); dropped < callQueue-1 {
		t.Errorf("%v lines dropped", dropped)
	}
	close(to)
	l.Close()
}
