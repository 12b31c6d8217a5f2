package boot

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"callgate/internal/config"
	"callgate/internal/embedded"
	"callgate/internal/telemetry"
)

func TestAStoreThatIsAwayShowsInTheMetricsUntilItIsBack(t *testing.T) {
	t.Parallel()
	pool, err := openPostgres(t.Context(), embedded.Postgres(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	server := miniredis.RunT(t)
	client, err := openRedis("redis://"+server.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	var log bytes.Buffer // its logger writes one line at a time, and is read after Close
	n := &Node{config: config.Config{Role: config.Gateway}, registry: telemetry.NewRegistry(), pool: pool, redis: client, logger: telemetry.NewLogger(&log, "info")}
	w := n.startWatch()
	shows := func(redis float64) {
		t.Helper()
		for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			got := fmt.Sprint(testutil.ToFloat64(w.up.WithLabelValues("redis")), testutil.ToFloat64(w.up.WithLabelValues("postgres")))
			if got == fmt.Sprint(redis, 1.0) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("redis and postgres are shown as %s", got)
			}
		}
	}
	shows(1)
	server.Close()
	shows(0)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	shows(1)
	w.Close()
	for _, line := range []string{"a store does not answer", "a store answers again"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q is said %d times:\n%s", line, n, &log)
		}
	}
}
