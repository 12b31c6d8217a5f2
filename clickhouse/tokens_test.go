package clickhouse_test

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"callgate/internal/beijing"
)

// tokens are what the answer to a known call reports.
type tokens struct {
	state, answered                   string
	input, output, cached, cacheWrite *uint32
}

// randomTokens are some of each state, with figures that not every answer gives. Of calls long ago they were not
// yet collected.
func randomTokens(random *rand.Rand, c call, ago int) tokens {
	if ago > 40 {
		return tokens{}
	}
	if c.status != 200 && c.status != 499 {
		return tokens{state: "none"}
	}
	said := tokens{answered: c.model} // as one does whose name is that of its capability
	if c.model == "chat" {
		said.answered = []string{"chat-2026-05", "chat-2026-08", ""}[random.IntN(3)]
	}
	switch {
	case c.status == 499:
		said.state = "partial"
	case random.IntN(4) == 0:
		said.state = []string{"absent", "absent", "unreadable"}[random.IntN(3)]
		return said
	default:
		said.state = "reported"
	}
	of := func(most int) *uint32 { n := uint32(random.IntN(most)); return &n }
	said.input = of(900_000)
	if said.state == "reported" || random.IntN(2) == 0 {
		said.output = of(90_000)
	}
	if c.model == "chat" && random.IntN(2) == 0 {
		said.cached, said.cacheWrite = of(int(*said.input)/2+1), of(int(*said.input)/2+1)
	}
	return said
}

func (c call) rolledUp() bool { return c.state != "" && c.state != "none" }

func known(n *uint32) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// total prints a sum of what is known, \N when nothing is.
func total(calls []call, of func(call) *uint32) string {
	var n int64
	said := false
	for _, c := range calls {
		n, said = n+known(of(c)), said || of(c) != nil
	}
	if !said {
		return `\N`
	}
	return fmt.Sprint(n)
}

func (c call) inputTokens() *uint32  { return c.input }
func (c call) outputTokens() *uint32 { return c.output }
func (c call) cachedTokens() *uint32 { return c.cached }
func (c call) streams() int          { return map[bool]int{true: 1}[c.streamed] }
func (c call) silentStreams() int    { return map[bool]int{true: c.streams()}[c.state == "absent"] }

func withState(calls []call) []call {
	return slices.DeleteFunc(calls, func(c call) bool { return !c.rolledUp() })
}

// fromCache is the share of the input that was read from the cache.
func fromCache(of []call) string {
	if total(of, call.cachedTokens) == `\N` {
		return `\N`
	}
	return ratio(sum(of, func(c call) int { return int(known(c.cached)) }), sum(of, func(c call) int { return int(known(c.input)) }), 4)
}

// answersOfTokens are those of the questions from 21 on.
var answersOfTokens = []func(*kit) []string{
	func(k *kit) []string { // 21
		answer := lines(withState(k.last(366)), func(c call) string { return join(c.date()[:8]+"01", c.application) }, func(group string, of []call) string {
			return join(group, total(of, call.inputTokens), total(of, call.outputTokens))
		})
		slices.SortFunc(answer, func(a, b string) int { return cmp.Or(strings.Compare(a[:10], b[:10]), byUUID(a[11:], b[11:])) })
		return answer
	},
	func(k *kit) []string { // 22
		return lines(withState(k.last(30)), call.ofModel, func(m string, of []call) string {
			return join(m, sum(of, call.streams), ratio(sum(of, call.silentStreams), sum(of, call.streams), 4))
		})
	},
	func(k *kit) []string { // 23
		return lines(withState(k.last(30)), func(c call) string { return join(c.model, c.answered) }, func(group string, of []call) string {
			return join(group, total(of, call.inputTokens), total(of, call.outputTokens), fromCache(of))
		})
	},
	func(k *kit) []string { // 24
		costs := slices.DeleteFunc(k.last(30), func(c call) bool { return c.input == nil && c.output == nil })
		answer := lines(costs, func(c call) string { return join(c.application, k.price(c).currency) }, func(group string, of []call) string {
			if strings.HasSuffix(group, "\t") {
				return join(group, `\N`, len(of))
			}
			var amount big.Rat
			for _, c := range of {
				amount.Add(&amount, k.price(c).cost(c))
			}
			return join(group, plain(&amount), len(of))
		})
		slices.SortStableFunc(answer, byUUID) // by currency within an application already
		return answer
	},
	func(k *kit) []string { // 25
		past := slices.DeleteFunc(k.last(30), func(c call) bool { return c.day() == k.today })
		return lines(past, call.date, func(day string, of []call) string {
			revision, missing := 1, 0
			switch of[0].day() {
			case k.today - 3:
				revision = 2
			case k.today - 2:
				missing = 3
			}
			usd := plain(big.NewRat(int64(len(of)), 4))
			return join(day, revision, len(of), len(of)-good(of), total(of, call.inputTokens), total(of, call.outputTokens), usd, missing, missing > 0)
		})
	},
	func(k *kit) []string { // 26
		return lines(k.last(7), func(c call) string { return c.team }, func(team string, of []call) string {
			users := tally(of, func(c call) string { return c.endUser })
			delete(users, "")
			return join(team, len(of), len(users), sum(of, func(c call) int { return int(known(c.input)) }))
		})
	},
}

// The days from which the prices of the README hold, and what they are in the test: days among the known calls.
const earlierPrices, laterPrices = "2026-01-01", "2026-07-01"

func (k *kit) earlier() beijing.Day { return k.today - 25 }
func (k *kit) later() beijing.Day   { return k.today - 12 }

// priced moves the first days of the README's prices among the known calls.
func (k *kit) priced(query string) string {
	return strings.NewReplacer(earlierPrices, k.earlier().String(), laterPrices, k.later().String()).Replace(query)
}

// price is what a million tokens cost: uncached input, cached, written to the cache, output.
type price struct {
	currency string
	rates    [4]string
}

// price is the README's price of a known call.
func (k *kit) price(c call) price {
	switch day := c.day(); {
	case day < k.earlier():
		return price{}
	case c.model == "vision":
		return price{"USD", [4]string{"0.15", "0.075", "0.15", "0.6"}}
	case c.model != "chat":
		return price{}
	case day < k.later():
		return price{"USD", [4]string{"2.5", "1.25", "2.5", "10"}}
	case c.answered == "chat-2026-05":
		return price{"CNY", [4]string{"14.4", "14.4", "14.4", "57.6"}}
	}
	return price{"USD", [4]string{"2", "0.5", "2.5", "8.0001"}}
}

func (p price) cost(c call) *big.Rat {
	cost := new(big.Rat)
	counts := [4]int64{known(c.input) - known(c.cached) - known(c.cacheWrite), known(c.cached), known(c.cacheWrite), known(c.output)}
	for i, n := range counts {
		rate, _ := new(big.Rat).SetString(p.rates[i])
		cost.Add(cost, rate.Mul(rate, big.NewRat(n, 1_000_000)))
	}
	return cost
}

// plain prints an amount as ClickHouse does: without zeros at the end.
func plain(amount *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(amount.FloatString(10), "0"), ".")
}

func (c call) midnight() string { return c.date() + " 00:00:00" }

// panelsOfTokens are what the panels of tokens must show of the calls of their range.
var panelsOfTokens = map[string]func(k *kit, of []call) []string{
	"Tokens per day": func(_ *kit, of []call) []string {
		return lines(withState(of), call.midnight, func(day string, of []call) string {
			return join(day, total(of, call.inputTokens), total(of, call.outputTokens))
		})
	},
	"Tokens by application": func(_ *kit, of []call) []string {
		counted := withState(of)
		answer := lines(counted, func(c call) string { return c.application.String() }, func(application string, of []call) string {
			return join(application, total(of, call.inputTokens), total(of, call.outputTokens))
		})
		used := func(line string) (n int) {
			var in, out int
			_, _ = fmt.Sscanf(line[37:], "%d\t%d", &in, &out)
			return in + out
		}
		slices.SortFunc(answer, func(a, b string) int { return cmp.Or(used(b)-used(a), byUUID(a, b)) })
		return answer
	},
	"Tokens by model that answered": func(_ *kit, of []call) []string {
		return lines(withState(of), func(c call) string { return join(c.midnight(), c.answered) }, func(group string, of []call) string {
			n := sum(of, func(c call) int { return int(known(c.input) + known(c.output)) })
			return join(group, n)
		})
	},
	"Streamed calls without usage": func(_ *kit, of []call) []string {
		return lines(withState(of), call.midnight, func(day string, of []call) string {
			return join(day, ratio(sum(of, call.silentStreams), sum(of, call.streams), 4))
		})
	},
}
