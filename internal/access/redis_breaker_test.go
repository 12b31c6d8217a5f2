package access

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestAnOpenBreakerShowsInTheMetrics(t *testing.T) {
	l := newLink(nil)
	reg := prometheus.NewRegistry()
	newMetrics(reg, func() time.Duration { return 0 }, func() int { return 0 }, l.paused)
	const name = "callgate_access_redis_breaker_open"
	shows := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(reg, strings.NewReader("# HELP "+name+" 1 while Redis is left alone after repeated failures and PostgreSQL is asked instead, else 0.\n# TYPE "+name+" gauge\n"+name+" "+want+"\n"), name); err != nil {
			t.Error(err)
		}
	}
	shows("0")
	for range breakerFailures {
		l.report(errors.New("away"))
	}
	shows("1")
	l.report(nil)
	shows("0")
}
