package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// reported is what the answer to a call says of its tokens.
type reported struct {
	state    string // empty: not collected
	upstream string
	numbers  [5]*uint32 // as tokenNames
}

// tokenNames are those of a metrics block.
var tokenNames = [5]string{"input", "output", "cached", "cacheWrite", "reasoning"}

// reportedAt is what is reported at random for an answer of some status.
func reportedAt(random *rand.Rand, status, upstreamStatus int) (r reported) {
	if upstreamStatus != 200 {
		r.state = []string{"", "none"}[random.IntN(2)]
		return r
	}
	r.state = []string{"", "reported", "reported", "reported", "absent", "unreadable"}[random.IntN(6)]
	if status == 499 && r.state != "" {
		r.state = "partial"
	}
	if r.state == "" || r.state == "unreadable" {
		return r
	}
	r.upstream = []string{"", "gpt-5", "claude-5"}[random.IntN(3)]
	if r.state == "absent" {
		return r
	}
	for i := range r.numbers {
		if random.IntN(4) > 0 {
			n := uint32(random.IntN(1 << 20))
			r.numbers[i] = &n
		}
	}
	return r
}

// tokens is the block of what some calls report.
func tokens(of []record) object {
	block := object{}
	for i, name := range tokenNames {
		block[name] = nil
		var sum int64
		for _, r := range of {
			if n := r.reported.numbers[i]; n != nil {
				sum += int64(*n)
				block[name] = sum
			}
		}
	}
	for _, state := range []string{"reported", "partial", "absent", "unreadable"} {
		n := 0
		for _, r := range of {
			if r.reported.state == state {
				n++
			}
		}
		block[state+"Calls"] = n
	}
	streamed, silent := 0, 0
	for _, r := range of {
		if r.streamed && r.reported.state != "" && r.reported.state != "none" {
			streamed++
			if r.reported.state == "absent" {
				silent++
			}
		}
	}
	block["streamedCalls"], block["streamedAbsentCalls"] = streamed, silent
	return block
}

// shown is how one call tells it.
func (r reported) shown() object {
	block := object{"usageState": nil, "upstreamModel": nil}
	if r.state != "" {
		block["usageState"] = r.state
	}
	if r.upstream != "" {
		block["upstreamModel"] = r.upstream
	}
	meters := object{}
	for i, name := range tokenNames {
		block[name+"Tokens"] = nil
		if n := r.numbers[i]; n != nil {
			block[name+"Tokens"] = *n
			meters[[5]string{"input", "output", "cached_input", "cache_write", "reasoning"}[i]] = *n
		}
	}
	if block["lines"] = []any{}; len(meters) > 0 {
		block["lines"] = []any{object{"model": block["upstreamModel"], "tier": nil, "band": 0, "meters": meters}}
	}
	return block
}

// line is the end of a line of the CSV file.
func (r reported) line() []string {
	line := []string{r.state, r.upstream}
	for _, n := range r.numbers {
		text := ""
		if n != nil {
			text = fmt.Sprint(*n)
		}
		line = append(line, text)
	}
	return line
}

// firstBytes is how long some calls waited for the first byte.
func firstBytes(of []record) object {
	var waited []int64
	var sum int64
	for _, r := range of {
		if r.firstByte != nil {
			waited = append(waited, *r.firstByte)
			sum += *r.firstByte
		}
	}
	n := int64(len(waited))
	block := object{"calls": n, "avgMs": nil, "p50Ms": nil, "p95Ms": nil, "p99Ms": nil}
	if n == 0 {
		return block
	}
	slices.Sort(waited)
	block["avgMs"] = math.Floor(float64(sum)/float64(n)*10+0.5) / 10
	for name, percent := range map[string]int64{"p50Ms": 50, "p95Ms": 95, "p99Ms": 99} {
		block[name] = waited[(percent*n+99)/100-1]
	}
	return block
}
