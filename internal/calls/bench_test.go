package calls

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
)

// BenchmarkAdd is the price the call path pays: handing over, the writer running beside it.
func BenchmarkAdd(b *testing.B) {
	s := openStores(b)
	r := s.open(b, Config{RingBytes: 1 << 30})
	now := time.Now()
	records := make([]Record, 100_000)
	for i := range records {
		records[i] = *success(now)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		r.Add(&records[i%len(records)]) // read only: a success carries nothing to shed
	}
	b.StopTimer()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.Close(ctx)
}

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
		spool, err := openSpool(b.Context(), dir, quiet)
		if err != nil {
			b.Fatal(err)
		}
		r := assemble(Config{RingBytes: 1 << 30, SpoolDir: dir}.withDefaults(), spool, nil, s.pool, quiet)
		now := time.Now()
		models := []string{"gpt-4o", "gpt-4o-mini", "claude", "qwen", "deepseek"}
		for i := range count {
			record := success(now.Add(-time.Duration(i) * time.Millisecond / 100))
			if i%100 == 0 {
				record = failed(now)
			}
			record.ApplicationID = uuid.UUID{15: byte(i % 200)}
			record.Model = models[i%len(models)]
			record.Duration = time.Duration(i%3_000) * time.Millisecond
			r.Add(record)
		}
		close(r.writer.stop)
		r.writer.sync.start(quiet)
		var writing sync.WaitGroup
		began := time.Now()
		writing.Go(func() { r.writer.run(nil) })
		writing.Wait()
		b.ReportMetric(count/time.Since(began).Seconds(), "written/s")
		b.ReportMetric(float64(spool.total())/count, "spoolB/record")
		if err := spool.lock.Close(); err != nil {
			b.Fatal(err)
		}
		before := s.number(b, `SELECT toInt64(count()) FROM calls`)
		theirs, ours := s.number(b, engineCPU), processCPU(b)
		b.StartTimer()
		began = time.Now()
		r = s.open(b, Config{SpoolDir: dir})
		if err := shut(r); err != nil {
			b.Fatal(err)
		}
		rate := count / time.Since(began).Seconds()
		b.StopTimer()
		fastest = max(fastest, rate)
		b.ReportMetric(rate, "shipped/s")
		b.ReportMetric(fastest, "fastest/s")
		b.ReportMetric(float64(processCPU(b)-ours)/count, "ourµs/record")
		b.ReportMetric(float64(s.number(b, engineCPU)-theirs)/count, "itsµs/record")
		if n := s.counted(b) - before; n != count {
			b.Fatalf("%d of %d shipped", n, count)
		}
		b.StartTimer()
	}
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
