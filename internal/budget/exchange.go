package budget

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed exchange.lua
	exchangeText string
	//go:embed reading.lua
	readingText string

	exchangeScript = redis.NewScript(exchangeText)
	readingScript  = redis.NewScript(readingText)
)

// claim is a reading that this gateway is to take; ms is when it begins by Redis.
type claim struct {
	of *account
	ms int64
}

func (e *Enforcer) arguments(a *account, asked asking, wants bool) []any {
	want := "0"
	if wants {
		want = "1"
	}
	return append([]any{e.config.Gateway.String(), asked.tail, micro(a.budget.Load().Holds(time.Now())), want, e.gateways.Load(),
		readEvery.Milliseconds(), silentAfter.Milliseconds(), allSaid.Milliseconds()}, *e.ended.Load()...)
}

// alone is one exchange, for a call that waits. a.exchange is held.
func (e *Enforcer) alone(a *account) (answer, error) {
	ctx, cancel := context.WithTimeout(e.work, askTimeout)
	defer cancel()
	asked := a.ask(e.config.Oldest())
	got, err := exchangeScript.Run(ctx, e.config.Redis, []string{a.redis()}, e.arguments(a, asked, true)...).Result()
	return e.done(a, asked, got, err)
}

// done takes the answer to an exchange, or, without one, the gateway's share.
func (e *Enforcer) done(a *account, asked asking, got any, err error) (answer, error) {
	var parsed answer
	if err == nil {
		parsed, err = parseAnswer(got)
	}
	if err != nil {
		e.failed.Inc()
		a.share(e.gateways.Load(), time.Now())
		return answer{}, err
	}
	a.accept(asked, parsed, time.Now())
	return parsed, nil
}

// tick exchanges for all accounts that are in use, and takes the readings that are this gateway's to take.
func (e *Enforcer) tick(ctx context.Context) {
	var due []*account
	now := e.elapsed()
	e.accounts.Range(func(key, found any) bool {
		switch a := found.(*account); {
		case a.idle(now, kept):
			e.accounts.Delete(key)
		case !a.idle(now, warm) || a.lease.Load() != 0:
			due = append(due, a)
		}
		return true
	})
	for len(due) > 0 && ctx.Err() == nil {
		n := min(len(due), exchangesOnce)
		claims := e.exchangeAll(ctx, due[:n], true)
		if due = due[n:]; len(claims) > 0 && e.reading.CompareAndSwap(false, true) {
			e.running.Go(func() {
				defer e.reading.Store(false)
				ctx, cancel := context.WithTimeout(e.work, readTimeout)
				defer cancel()
				e.read(ctx, claims)
			})
		}
	}
}

// exchangeAll exchanges for accounts in one round trip. spends says that those in use want to.
func (e *Enforcer) exchangeAll(ctx context.Context, all []*account, spends bool) (claims []claim) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	type sent struct {
		*account
		asked asking
		cmd   *redis.Cmd
	}
	var batch []sent
	pipe, oldest := e.config.Redis.Pipeline(), e.config.Oldest()
	for _, a := range all {
		if !a.exchange.TryLock() { // a call is asking
			continue
		}
		defer a.exchange.Unlock()
		s := sent{account: a, asked: a.ask(oldest)}
		wants := spends && e.elapsed()-time.Duration(a.lastUse.Load()) < warm
		s.cmd = exchangeScript.EvalSha(ctx, pipe, []string{a.redis()}, e.arguments(a, s.asked, wants)...)
		batch = append(batch, s)
	}
	_, _ = pipe.Exec(ctx) // each has its own error
	for _, s := range batch {
		got, err := s.cmd.Result()
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			got, err = exchangeScript.Eval(ctx, e.config.Redis, []string{s.redis()}, e.arguments(s.account, s.asked, spends)...).Result()
		}
		if parsed, err := e.done(s.account, s.asked, got, err); err == nil && parsed.claimed {
			claims = append(claims, claim{s.account, parsed.ms})
		}
	}
	return claims
}

// read asks the ledger what is spent, and tells all gateways.
func (e *Enforcer) read(ctx context.Context, claims []claim) {
	asks := make([]Ask, len(claims))
	for i, c := range claims {
		asks[i] = Ask{c.of.budget.Load(), c.of.from}
	}
	found, err := e.config.Read(ctx, asks)
	if err != nil {
		e.failed.Inc()
		e.config.Logger.Warn("what is spent of budgets cannot be read; it is tried again", "error", err)
		return
	}
	pipe := e.config.Redis.Pipeline()
	for i, c := range claims {
		readingScript.Eval(ctx, pipe, []string{c.of.redis()}, c.ms, micro(found[i].Amount), strings.Join(found[i].Unpriced, " "))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		e.failed.Inc()
	}
}
