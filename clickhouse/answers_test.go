package clickhouse_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"callgate/internal/beijing"
)

// answers are what the README's questions must give, computed from the known calls alone.
var answers = []func(*kit) []string{
	func(k *kit) []string { // 1
		return lines(k.last(7), call.date, func(day string, of []call) string { return join(day, len(of), len(of)-good(of)) })
	},
	func(k *kit) []string { // 2
		return top(10, tally(k.last(30), func(c call) string { return c.application.String() }))
	},
	func(k *kit) []string { // 3
		return lines(k.last(7), call.ofModel, func(m string, of []call) string { return join(m, ratio(good(of), len(of), 4)) })
	},
	func(k *kit) []string { // 4
		return lines(k.last(7), call.ofModel, func(m string, of []call) string { return join(m, ratio(sum(of, call.ms), len(of), 1)) })
	},
	func(k *kit) []string { // 5
		yesterday := k.where(func(c call) bool { return c.day() == k.today-1 })
		return lines(yesterday, call.ofModel, func(m string, of []call) string {
			took := sorted(of, call.ms)
			at := func(level float64) int { return took[int(level*float64(len(took)))] }
			return join(m, fmt.Sprintf("[%d,%d,%d]", at(0.5), at(0.95), at(0.99)))
		})
	},
	func(k *kit) []string { // 6
		return lines(k.last(366), call.ofModel, func(m string, of []call) string {
			took := sorted(of, call.ms) // exactly; the answer may be 2 percent off
			return join(m, fmt.Sprintf("[%d,%d,%d]", nearestRank(took, 50), nearestRank(took, 95), nearestRank(took, 99)))
		})
	},
	func(k *kit) []string { // 7
		return top(24, tally(k.last(7), func(c call) int { return int(c.start.Sub(c.day().Start()) / time.Hour) }))
	},
	func(k *kit) []string { // 8
		return top(99, tally(k.failed(7), func(c call) string { return join(c.reason, c.code) }))
	},
	func(k *kit) []string { // 9
		upstream := slices.DeleteFunc(k.failed(7), func(c call) bool { return c.reason != "upstream_http_error" })
		return lines(upstream, func(c call) string { return join(c.model, c.upstream) }, func(group string, of []call) string { return join(group, len(of)) })
	},
	func(k *kit) []string { // 10
		said := slices.DeleteFunc(k.failed(7), func(c call) bool { return c.message == "" })
		return top(10, tally(said, func(c call) string { return c.message }))
	},
	func(k *kit) []string { // 11
		broken := slices.DeleteFunc(k.last(7), func(c call) bool { return c.endedBy != "client_abort" })
		return lines(broken, call.ofModel, func(m string, of []call) string { return join(m, len(of), slices.Max(sorted(of, call.ms))) })
	},
	func(k *kit) []string { // 12
		streams := slices.DeleteFunc(k.last(7), func(c call) bool { return !c.streamed || c.firstByte == nil })
		return lines(streams, call.ofModel, func(m string, of []call) string {
			first := sorted(of, func(c call) int { return int(*c.firstByte) })
			return join(m, len(of), first[int(0.95*float64(len(of)))])
		})
	},
	func(k *kit) []string { // 13
		return lines(k.last(7), call.ofModel, func(m string, of []call) string {
			return join(m, sum(of, func(c call) int { return int(c.in) }), sum(of, func(c call) int { return int(c.out) }))
		})
	},
	func(k *kit) []string { // 14
		return lines(k.last(30), call.date, func(day string, of []call) string { return join(day, applications(of)) })
	},
	func(k *kit) []string { // 15
		owners := map[string][]call{}
		for _, c := range k.last(30) {
			owners[c.user.String()] = append(owners[c.user.String()], c)
		}
		ranked := slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
			return cmp.Or(len(owners[b])-len(owners[a]), byUUID(a, b))
		})
		var answer []string
		for _, owner := range ranked {
			answer = append(answer, join(owner, len(owners[owner]), applications(owners[owner])))
		}
		return answer
	},
	func(k *kit) []string { // 16
		return top(1, tally(k.last(7), func(c call) string { return shown(c.start.Truncate(time.Minute), "2006-01-02 15:04:05") }))
	},
	func(k *kit) []string { // 17
		return lines(k.last(14), call.ofModel, func(m string, of []call) string {
			recent := 0
			for _, c := range of {
				if c.day() > k.today-7 {
					recent++
				}
			}
			return join(m, recent, len(of)-recent)
		})
	},
	func(k *kit) []string { // 18
		answer := lines(k.calls, call.ofModel, func(m string, of []call) string {
			first := slices.MinFunc(of, func(a, b call) int { return a.start.Compare(b.start) })
			if first.day() <= k.today-30 {
				return ""
			}
			return join(m, shown(first.start, milliseconds), applications(of))
		})
		return answer // at most one model came into use, so that the order by time is that of the names
	},
	func(k *kit) []string { // 19
		return lines(k.calls, func(c call) string { return c.application.String() }, func(application string, of []call) string {
			last := slices.MaxFunc(of, func(a, b call) int { return a.start.Compare(b.start) })
			if last.day() > k.today-30 {
				return ""
			}
			return join(application, shown(last.start, milliseconds))
		})
	},
	func(k *kit) []string { // 20
		answer := lines(k.last(8), func(c call) string { return c.application.String() }, func(application string, of []call) string {
			var calls, failed [2]int
			for _, c := range of {
				before := 0
				if c.day() < k.today {
					before = 1
				}
				calls[before]++
				if !c.success {
					failed[before]++
				}
			}
			if calls[0]*calls[1]*failed[0] == 0 || failed[0]*calls[1] < 2*failed[1]*calls[0] {
				return ""
			}
			return join(application, ratio(failed[0], calls[0], 4), ratio(failed[1], calls[1], 4))
		})
		slices.SortFunc(answer, byUUID)
		return answer
	},
}

const milliseconds = "2006-01-02 15:04:05.000"

func shown(at time.Time, layout string) string {
	return at.In(time.FixedZone("", 8*3600)).Format(layout)
}

func (k *kit) where(holds func(call) bool) []call {
	return slices.DeleteFunc(slices.Clone(k.calls), func(c call) bool { return !holds(c) })
}

func (k *kit) last(days int) []call {
	return k.where(func(c call) bool { return c.day() > k.today-beijing.Day(days) })
}

func (k *kit) failed(days int) []call {
	return slices.DeleteFunc(k.last(days), func(c call) bool { return c.success })
}

func (c call) date() string    { return c.day().String() }
func (c call) ofModel() string { return c.model }
func (c call) ms() int         { return int(c.took) }

// nearestRank is the exact percentile of sorted values.
func nearestRank(sorted []int, percent int) int { return sorted[(percent*len(sorted)+99)/100-1] }

var numbers = regexp.MustCompile(`[0-9.]+`)

// near tells whether printed lines are the same but for numbers that are at most 2 percent off.
func near(got, want []string) bool {
	return slices.EqualFunc(got, want, func(got, want string) bool {
		a, b := numbers.FindAllString(got, -1), numbers.FindAllString(want, -1)
		return numbers.ReplaceAllString(got, "") == numbers.ReplaceAllString(want, "") && slices.EqualFunc(a, b, func(a, b string) bool {
			x, errX := strconv.ParseFloat(a, 64)
			y, errY := strconv.ParseFloat(b, 64)
			return a == b || errX == nil && errY == nil && math.Abs(x-y) <= 0.02*y
		})
	})
}

// lines groups calls, by key, and shows each group; groups that show nothing are left out.
func lines(calls []call, key func(call) string, show func(string, []call) string) []string {
	groups := map[string][]call{}
	for _, c := range calls {
		groups[key(c)] = append(groups[key(c)], c)
	}
	var printed []string
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if line := show(group, groups[group]); line != "" {
			printed = append(printed, line)
		}
	}
	return printed
}

func tally[K cmp.Ordered](calls []call, key func(call) K) map[K]int {
	counts := map[K]int{}
	for _, c := range calls {
		counts[key(c)]++
	}
	return counts
}

// top prints the n keys that are counted most often; ties in the order ClickHouse gives to the keys.
func top[K cmp.Ordered](n int, counts map[K]int) []string {
	ranked := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		tie := cmp.Compare(a, b)
		if text, ok := any(a).(string); ok && len(text) == 36 && strings.Count(text, "-") == 4 {
			tie = byUUID(text, any(b).(string))
		}
		return cmp.Or(counts[b]-counts[a], tie)
	})
	var printed []string
	for _, key := range ranked[:min(n, len(ranked))] {
		printed = append(printed, join(key, counts[key]))
	}
	return printed
}

// byUUID is ClickHouse's order of UUIDs: their second half decides first.
func byUUID(a, b string) int {
	return cmp.Or(cmp.Compare(a[18:36], b[18:36]), cmp.Compare(a[:18], b[:18]))
}

func join(values ...any) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, "\t")
}

func good(calls []call) (n int) {
	for _, c := range calls {
		if c.success {
			n++
		}
	}
	return n
}

func applications(calls []call) int {
	return len(tally(calls, func(c call) string { return c.application.String() }))
}

func sum(calls []call, of func(call) int) (total int) {
	for _, c := range calls {
		total += of(c)
	}
	return total
}

func sorted(calls []call, of func(call) int) []int {
	values := make([]int, len(calls))
	for i, c := range calls {
		values[i] = of(c)
	}
	slices.Sort(values)
	return values
}

// ratio divides and rounds half to even, as ClickHouse does.
func ratio(part, whole, digits int) string {
	scale := math.Pow10(digits)
	return strconv.FormatFloat(math.RoundToEven(float64(part)/float64(whole)*scale)/scale, 'f', -1, 64)
}
