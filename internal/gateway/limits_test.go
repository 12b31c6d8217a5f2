package gateway

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"callgate/internal/calls"
	"callgate/internal/embedded"
	"callgate/internal/limits"
)

// limitedRig is a rig whose applications all have these ceilings.
func limitedRig(t *testing.T, answer script, columns, values string) *rig {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), `INSERT INTO limit_ceilings (id, scope, updated_by, `+columns+`) VALUES ($1, 'all', 'test', `+values+`)`, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	options, err := redis.ParseURL(embedded.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	options.ContextTimeoutEnabled = true
	client := redis.NewClient(options)
	l := limits.Open(t.Context(), limits.Config{Gateway: uuid.New(), Snapshot: limits.New(pool).ReadSnapshot, Pool: pool, Redis: client, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { l.Close(); _ = client.Close() })
	return newRig(t, answer, func(c *Config) { c.Limits, c.TokenUsage = l, true })
}

// TestACallOverALimitIsRefusedRecordedAndToldWhenToComeAgain: it never reaches the upstream.
func TestACallOverALimitIsRefusedRecordedAndToldWhenToComeAgain(t *testing.T) {
	r := limitedRig(t, answers(jsonAnswer("200 OK", "RateLimit: \"theirs\";r=7\r\nX-RateLimit-Remaining: 5\r\n", "{}")), "requests_per_minute, calls_per_day", "3, 100")
	for range 3 {
		got := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
		if got.StatusCode != 200 || !strings.Contains(got.Header.Get("RateLimit-Policy"), `"requests";q=3;w=60, "day-calls";q=100;w=86400`) {
			t.Fatalf("%d %v", got.StatusCode, got.Header)
		}
		if all := got.Header.Values("RateLimit"); len(all) != 2 || all[0] != `"theirs";r=7` || got.Header.Get("X-RateLimit-Remaining") != "5" {
			t.Errorf("the upstream's own are %v", got.Header)
		}
		r.record()
	}
	got := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	after, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if got.StatusCode != 429 || got.Header.Get("X-Callgate-Error") != "rate_limited" || err != nil || after < 1 || after > 60 {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	if got.Header.Get("X-Should-Retry") != "" {
		t.Error("a client is told not to wait for the next minute")
	}
	if !strings.Contains(got.Header.Get("RateLimit"), `"requests";r=0;t=60, "day-calls";r=9`) {
		t.Errorf("RateLimit: %s", got.Header.Get("RateLimit"))
	}
	if !strings.Contains(string(got.body), `"code":"rate_limited"`) || !strings.Contains(string(got.body), "3 calls a minute") {
		t.Errorf("%s", got.body)
	}
	if record := r.record(); record.StatusCode != 429 || record.ReasonType != calls.Limited || record.ReasonCode != calls.RateLimited || record.UpstreamCode != 0 {
		t.Errorf("%+v", record)
	}
	refused := r.ask(post("/gateway/v1?model=none", goodKey, "{}"))
	if r.record(); refused.StatusCode != 403 || refused.Header.Get("RateLimit") == "" {
		t.Errorf("an answer of ours: %d %v", refused.StatusCode, refused.Header)
	}
}

// TestAUsedUpDayIsNotRetried: stock clients would sleep for as long as Retry-After says, and be refused again.
func TestAUsedUpDayIsNotRetried(t *testing.T) {
	r := limitedRig(t, answers(okAnswer), "calls_per_day", "1")
	if got := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); got.StatusCode != 200 || got.Header.Get("X-Should-Retry") != "" {
		t.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	r.record()
	got := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	if got.StatusCode != 429 || errorCode(got.body) != "quota_exhausted" || got.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v %s", got.StatusCode, got.Header, got.body)
	}
	_, left, _ := strings.Cut(got.Header.Get("RateLimit"), ";t=")
	seconds, err := strconv.Atoi(left)
	if after := got.Header.Get("Retry-After"); err != nil || seconds > 61 && after != "" {
		t.Errorf("Retry-After %q, the day lasts %q s", after, left)
	}
	r.record()
}

// TestRetryAfterIsTheTrueTimeUpToAMinute, and is left out where it would not be.
func TestRetryAfterIsTheTrueTimeUpToAMinute(t *testing.T) {
	for _, c := range []struct {
		code  string
		after time.Duration
		want  string
	}{
		{limits.QuotaExhausted, 9 * time.Hour, ""},
		{limits.QuotaExhausted, time.Minute + time.Millisecond, ""},
		{limits.QuotaExhausted, time.Minute, "60"},
		{limits.QuotaExhausted, 41500 * time.Millisecond, "42"},
		{limits.RateLimited, 17 * time.Second, "17"},
		{limits.RateLimited, time.Minute + time.Second, "60"},
		{limits.ConcurrencyLimited, time.Second, "1"},
	} {
		got := refusedLimit(&limits.Reached{Code: c.code, Limit: limits.CallsPerDay, Value: 1, RetryAfter: c.after})
		if got.retryAfter != c.want || got.isFinal() != (c.code == limits.QuotaExhausted) {
			t.Errorf("%s in %v: Retry-After %q, final %v", c.code, c.after, got.retryAfter, got.isFinal())
		}
	}
}

// TestARefusalSaysWhoseLimitItIs.
func TestARefusalSaysWhoseLimitItIs(t *testing.T) {
	for _, c := range []struct {
		scope      limits.Scope
		key, limit string
		want       string
	}{
		{limits.ForKey, "Batch", limits.RequestsPerMinute, "The application's key “Batch” may, by its own limit, make 5 calls a minute, and has. Try again in 12 s."},
		{limits.ForKey, "", limits.TokensPerDay, "The application's first key may, by its own limit, use 5 tokens a day, and has. The day ends at midnight in Beijing."},
		{limits.ForApplication, "", limits.CallsPerDay, "The application may make 5 calls a day, and has. The day ends at midnight in Beijing."},
		{limits.ForOwner, "", limits.Concurrency, "All applications of the owner together may, by an administrator's ceiling for the owner, have 5 calls in flight, and have. Try again when one of them has ended."},
		{limits.ForAll, "", limits.TokensPerMinute, "Every application may, by an administrator's ceiling for all, use 5 tokens a minute, and this one has. Try again in 12 s."},
	} {
		got := refusedLimit(&limits.Reached{Code: limits.RateLimited, Scope: c.scope, KeyName: c.key, Limit: c.limit, Value: 5, RetryAfter: 12 * time.Second})
		if got.message != c.want {
			t.Errorf("%s", got.message)
		}
	}
}

// TestTokensOfACallAreChargedWhenItEnds: of one that failed none, and the next is refused once they are used.
func TestTokensOfACallAreChargedWhenItEnds(t *testing.T) {
	r := limitedRig(t, answers(jsonAnswer("200 OK", "", reportedJSON)), "tokens_per_minute", "13")
	if got := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	r.record()
	got := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	if got.StatusCode != 429 || !strings.Contains(string(got.body), "13 tokens a minute") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	r.record()
}

// TestASlotIsFreeWhenItsCallHasEnded, and not before.
func TestASlotIsFreeWhenItsCallHasEnded(t *testing.T) {
	r := limitedRig(t, answers(jsonAnswer("200 OK", "", "{}")), "concurrency", "1")
	open := r.dial()
	request := post("/gateway/v1?model=m", goodKey, "{}")
	if _, err := open.Write([]byte(request[:len(request)-1])); err != nil { // its body is not whole
		t.Fatal(err)
	}
	waitFor(t, func() bool { return r.gateway.supervisor.len() == 1 })
	waitFor(t, func() bool { return r.ask(request).StatusCode == 429 })
	_ = open.Close()
	waitFor(t, func() bool { return r.ask(request).StatusCode == 200 })
	waitFor(t, func() bool { return r.gateway.supervisor.len() == 0 })
	for len(r.records) > 0 {
		<-r.records
	}
}
