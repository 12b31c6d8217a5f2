package ship_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

// BenchmarkShip is spool to ClickHouse, one shipper, rollups included, every hundredth call failed.
// Besides the rate of the fastest and the last round it tells what a record costs in CPU time, which
// a busy machine changes least: ours, and that of ClickHouse's threads that insert.
func BenchmarkShip(b *testing.B) {
	s := openStores(b)
	fastest := 0.0
	const count = 400_000
	for range b.N {
		b.StopTimer()
		dir := b.TempDir()
		now := time.Now()
		records := make([]*calls.Record, count)
		models := []string{"gpt-4o", "gpt-4o-mini", "claude", "qwen", "deepseek"}
		for i := range records {
			record := callstest.Success(now.Add(-time.Duration(i) * time.Millisecond / 100))
			if i%100 == 0 {
				record = callstest.Failed(now)
			}
			record.ApplicationID = uuid.UUID{15: byte(i % 200)}
			record.Model = models[i%len(models)]
			record.Duration = time.Duration(i%3_000) * time.Millisecond
			records[i] = record
		}
		written := ledgertest.OpenSpool(b, spool.Config{RingBytes: 1 << 30, Dir: dir})
		began := time.Now()
		for _, record := range records {
			written.Add(record)
		}
		written.Drain(b.Context())
		b.ReportMetric(count/time.Since(began).Seconds(), "written/s")
		b.ReportMetric(float64(sizeOf(b, dir))/count, "spoolB/record")
		if err := written.Close(); err != nil {
			b.Fatal(err)
		}
		before := s.Number(b, `SELECT toInt64(count()) FROM calls`)
		theirs, ours := s.Number(b, engineCPU), processCPU(b)
		b.StartTimer()
		began = time.Now()
		r := s.Record(b, spool.Config{Dir: dir})
		if err := ledgertest.Shut(r); err != nil {
			b.Fatal(err)
		}
		rate := count / time.Since(began).Seconds()
		b.StopTimer()
		fastest = max(fastest, rate)
		b.ReportMetric(rate, "shipped/s")
		b.ReportMetric(fastest, "fastest/s")
		b.ReportMetric(float64(processCPU(b)-ours)/count, "ourµs/record")
		b.ReportMetric(float64(s.Number(b, engineCPU)-theirs)/count, "itsµs/record")
		if n := s.Counted(b) - before; n != count {
			b.Fatalf("%d of %d shipped", n, count)
		}
		b.StartTimer()
	}
}

// sizeOf is the size of all segments in a directory.
func sizeOf(b *testing.B, dir string) (size int64) {
	b.Helper()
	for _, path := range ledgertest.Segments(b, dir, ".segment") {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

const engineCPU = `SELECT toInt64(sum(value)) FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'`

// processCPU is the user and system time of this process in microseconds.
func processCPU(b *testing.B) int64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return (used.Utime.Nano() + used.Stime.Nano()) / 1000
}
