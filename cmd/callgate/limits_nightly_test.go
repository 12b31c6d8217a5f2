//go:build nightly

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestThreeGatewaysHoldOneLimitWhileRedisHangsAndIsLost: ten times what is allowed for LIMITS_SECONDS (40). After a
// third of them Redis hangs for a sixth, is back for a sixth, is killed and comes back empty. No minute has more than the
// limit, nobody waits for Redis, and what is allowed before the first fault is used.
func TestThreeGatewaysHoldOneLimitWhileRedisHangsAndIsLost(t *testing.T) {
	const limit = 3000 // a minute
	seconds, _ := strconv.Atoi(os.Getenv("LIMITS_SECONDS"))
	part := time.Duration(max(seconds, 40)) * time.Second / 6
	h, port := newInstallation(t), quietAddress(t)
	_, port, _ = strings.Cut(port, ":")
	redis := startRedis(t, port)
	address := "REDIS_URL=redis://127.0.0.1:" + port + "/0"
	gateways := []*node{h.node(t, address), h.node(t, address), h.node(t, address)}
	do[any](h.dev, "PATCH", "/api/applications/"+h.app+"/limits", map[string]any{"requestsPerMinute": limit})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	l := &limitedLoad{key: h.key, began: time.Now(), end: time.Now().Add(6 * part)}
	for _, n := range gateways {
		for range 4 {
			l.running.Go(func() { l.call(t, n.base) })
		}
	}
	time.Sleep(2 * part)
	healthy := len(l.times())
	_ = redis.Process.Signal(syscall.SIGSTOP)
	time.Sleep(part)
	_ = redis.Process.Signal(syscall.SIGCONT)
	time.Sleep(part)
	_ = redis.Process.Kill()
	_ = redis.Wait()
	time.Sleep(part / 3)
	startRedis(t, port)
	l.running.Wait()
	most, possible := l.most(), limit*(1+int(2*part/time.Minute))
	t.Logf("%d answers in %v: most admitted in a minute %d of %d, %d of %d before the first fault, slowest %v", l.answers, 6*part, most, limit, healthy, possible, l.slowest)
	if most > limit*102/100 || healthy < possible*95/100 {
		t.Errorf("%d admitted in a minute of %d, %d of %d while Redis was healthy", most, limit, healthy, possible)
	}
	if l.other > 0 || l.slowest > 3*time.Second {
		t.Errorf("%d answers of another kind, the slowest took %v", l.other, l.slowest)
	}
}
