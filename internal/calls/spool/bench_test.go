package spool

import (
	"testing"
	"time"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
)

// BenchmarkAdd is the price the call path pays: handing over, the writer running beside it.
func BenchmarkAdd(b *testing.B) {
	s, err := Open(b.Context(), Config{Dir: b.TempDir(), RingBytes: 1 << 30}, callstest.Quiet, nil)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	records := make([]calls.Record, 100_000)
	for i := range records {
		records[i] = *callstest.Success(now)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		s.Add(&records[i%len(records)]) // read only: a success carries nothing to shed
	}
	b.StopTimer()
	s.Drain(b.Context())
	_ = s.Close()
}
