package budget

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"callgate/internal/beijing"
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

// nothing is what an account wants that is not in use.
const nothing = -1

func (e *Enforcer) arguments(a *account, asked asking, want int64) []any {
	return []any{e.config.Gateway.String(), asked.days, micro(a.budget.Load().Holds(time.Now())), want, e.gateways.Load(), asked.began,
		readEvery.Milliseconds(), readTimeout.Milliseconds(), silentAfter.Milliseconds(), allSaid.Milliseconds(), e.book.Load().Version().String(), asked.anew}
}

// alone is one exchange, for a call that waits. a.exchange is held.
func (e *Enforcer) alone(a *account, want int64) (answer, error) {
	ctx, cancel := context.WithTimeout(e.work, e.config.timeout)
	defer cancel()
	asked := a.ask(e.book.Load(), time.Now())
	got, err := exchangeScript.Run(ctx, e.config.Redis, []string{a.redis()}, e.arguments(a, asked, want)...).Result()
	return e.done(a, asked, got, err)
}

// done takes the answer to an exchange, or, without one, the gateway's share of what is left if that is known.
func (e *Enforcer) done(a *account, asked asking, got any, err error) (answer, error) {
	var parsed answer
	if err == nil {
		parsed, err = parseAnswer(got)
	}
	if err != nil {
		e.failed.Inc()
		if _, unknown := a.neverKnown(); !unknown {
			a.share(e.gateways.Load(), time.Now())
		}
		return answer{}, err
	}
	a.accept(asked, parsed, e.gateways.Load(), time.Now())
	return parsed, nil
}

// tick exchanges for all accounts that are in use, and takes the readings that are this gateway's to take.
func (e *Enforcer) tick(ctx context.Context) {
	var due []*account
	now, today := e.elapsed(), beijing.Today(time.Now())
	e.accounts.Range(func(key, found any) bool {
		switch a := found.(*account); {
		case a.isOver(today):
			e.accounts.Delete(key)
		case a.due(now):
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
				ctx, cancel := context.WithTimeout(e.work, time.Duration(len(claims))*readTimeout)
				defer cancel()
				for _, c := range claims {
					e.read(ctx, c)
				}
			})
		}
	}
}

// exchangeSoon exchanges for accounts of which little is left as soon as a call has ended.
func (e *Enforcer) exchangeSoon() {
	for {
		select {
		case <-e.work.Done():
			return
		case a := <-e.soon:
			e.exchangeAll(e.work, []*account{a}, true)
		}
	}
}

// exchangeAll exchanges for accounts in one round trip. spends says that those in use want to.
func (e *Enforcer) exchangeAll(ctx context.Context, all []*account, spends bool) (claims []claim) {
	ctx, cancel := context.WithTimeout(ctx, e.config.timeout)
	defer cancel()
	type sent struct {
		*account
		asked asking
		want  int64
		cmd   *redis.Cmd
	}
	var batch []sent
	pipe, book, now := e.config.Redis.Pipeline(), e.book.Load(), time.Now()
	for _, a := range all {
		if !a.exchange.TryLock() { // a call is asking
			continue
		}
		defer a.exchange.Unlock()
		s := sent{account: a, asked: a.ask(book, now)}
		s.want = nothing
		if spends {
			s.want = a.wants(e.elapsed())
		}
		s.cmd = exchangeScript.EvalSha(ctx, pipe, []string{a.redis()}, e.arguments(a, s.asked, s.want)...)
		batch = append(batch, s)
	}
	_, _ = pipe.Exec(ctx) // each has its own error
	for _, s := range batch {
		got, err := s.cmd.Result()
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			got, err = exchangeScript.Eval(ctx, e.config.Redis, []string{s.redis()}, e.arguments(s.account, s.asked, s.want)...).Result()
		}
		if parsed, err := e.done(s.account, s.asked, got, err); err == nil && parsed.claimed {
			claims = append(claims, claim{s.account, parsed.ms})
		}
	}
	return claims
}

// read asks the ledger what is spent of an account but by what gateways count themselves, and tells them all.
func (e *Enforcer) read(ctx context.Context, c claim) {
	if err := e.takeReading(ctx, c); err != nil {
		e.failed.Inc()
		e.config.Logger.Warn("what is spent of a budget cannot be read; it is tried again", "budget", c.of.accountKey.budget, "error", err)
	}
}

func (e *Enforcer) takeReading(ctx context.Context, c claim) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	fields, err := e.config.Redis.HGetAll(ctx, c.of.redis()).Result()
	if err != nil {
		return err
	}
	through, ended, err := e.config.Settled(ctx)
	if err != nil {
		return err
	}
	q := Question{Ask: Ask{c.of.budget.Load(), c.of.from}, Counted: map[uuid.UUID]time.Time{}}
	// Before the cut no call is in flight or on its way.
	q.Cut = max(q.From, min(beijing.DayOf(through), beijing.DayOf(time.Now().Add(-e.config.CallTimeout-timeoutMargin))))
	arguments := []any{}
	for field, value := range fields {
		name, gateway := strings.CutPrefix(field, "gateway:")
		id, err := uuid.Parse(name)
		words := strings.Fields(value)
		if !gateway || err != nil || len(words) < 3 {
			continue
		}
		if slices.Contains(ended, id) { // the ledger has its calls, at the prices of now
			arguments = append(arguments, name)
			continue
		}
		if began, err := strconv.ParseInt(words[2], 10, 64); err == nil {
			q.Counted[id] = time.UnixMilli(began)
		}
	}
	found, err := e.config.Read(ctx, q)
	if err != nil {
		return err
	}
	arguments = append([]any{c.ms, micro(found.Amount), int(q.Cut), strings.Join(found.Unpriced, " "), found.Version.String()}, arguments...)
	return readingScript.Run(ctx, e.config.Redis, []string{c.of.redis()}, arguments...).Err()
}
