package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesOfOneKindAreSaidOnceASecondAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []int64
		s := NewSparse()
		for range 3 {
			var calls sync.WaitGroup
			for range 50 {
				calls.Go(func() { s.Say(func(held int64) { said = append(said, held) }) })
			}
			calls.Wait()
			time.Sleep(time.Second)
		}
		if len(said) != 3 || said[0]+said[1]+said[2] > 147 || said[1] < 40 {
			t.Errorf("%d lines, that held back %v", len(said), said)
		}
	})
}

func TestDurationsAreReadable(t *testing.T) {
	var out bytes.Buffer
	NewLogger(&out, "info").With("age", 3*time.Millisecond).Info("x", "retryIn", 90*time.Second)
	if line := out.String(); !json.Valid(out.Bytes()) || !strings.Contains(line, `"age":"3ms"`) || !strings.Contains(line, `"retryIn":"1m30s"`) {
		t.Error(line)
	}
}
