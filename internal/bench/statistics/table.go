package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"
)

// growthGoal is how much more ten times the rows may cost.
const growthGoal = 1.5

// printTable prints what was measured with all rows, and its growth since a tenth of them.
func printTable(to io.Writer, b *bench, measured [2]map[string]figures) error {
	all := b.ledgers[whole]
	fmt.Fprintf(to, "\n%d calls%s of %d applications over %d days, %d in the crowded hour, %d in the busy one; %d CPUs, %s/%s, %s\n\n",
		all.Written, b.onShards(), b.applications, b.days, all.InHour[0], all.InHour[1], runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| question\t| asked\t| goal, warm\t| warm p50\t| warm p99\t| CPU\t| queries\t| rows read\t| cold p50\t| cold p99\t| growth\t| \t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	var most growth
	for _, k := range b.kinds(nil) {
		f := measured[whole][k.name]
		grown := growthOf(k.name, measured[part][k.name], f)
		if k.growth && grown.p50 > most.p50 {
			most = grown
		}
		fmt.Fprintf(w, "| %s\t| %d\t| %s\t| %s\t| %s\t| %s\t| %.1f\t| %.0f\t| %s\t| %s\t| %s\t| %s\t|\n", k.name, f.Asked, goalOf(k),
			millis(quantile(f.Warm, 0.50)), millis(quantile(f.Warm, 0.99)), cpuText(f), f.Work.queries, f.Work.rows,
			millis(quantile(f.Cold, 0.50)), millis(quantile(f.Cold, 0.99)), grown, verdict(k, f))
	}
	met := "met"
	if most.p50 > growthGoal {
		met = "**missed**"
	}
	fmt.Fprintf(w, "| growth from %d to %d rows%s, the most\t| \t| ≤ × %.1f\t| × %.2f\t| × %.2f\t| × %.2f\t| \t| \t| \t| \t| %s\t| %s\t|\n",
		b.ledgers[part].Written, all.Written, b.onShards(), growthGoal, most.p50, most.p99, most.cpu, most.of, met)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(to)
	return err
}

// onShards tells where all rows are, if not on a single server.
func (b *bench) onShards() string {
	if b.shards < 2 {
		return ""
	}
	return fmt.Sprintf(" on %d shards", b.shards)
}

// cpuText is the CPU of a question, and of it that of each shard.
func cpuText(f figures) string {
	text := millis(f.CPU)
	if len(f.PerShard) < 2 {
		return text
	}
	for i, used := range f.PerShard {
		text += []string{" (", " + "}[min(i, 1)] + millis(used)
	}
	return text + ")"
}

// growth is how many times as much a kind of question costs with all rows as with a part of them.
type growth struct {
	of            string
	p50, p99, cpu float64
}

func growthOf(name string, before, after figures) growth {
	times := func(after, before time.Duration) float64 { return float64(after) / float64(max(before, 1)) }
	return growth{
		of:  name,
		p50: times(quantile(after.Warm, 0.50), quantile(before.Warm, 0.50)),
		p99: times(quantile(after.Warm, 0.99), quantile(before.Warm, 0.99)),
		cpu: times(after.CPU, before.CPU),
	}
}

func (g growth) String() string { return fmt.Sprintf("× %.2f (CPU × %.2f)", g.p50, g.cpu) }

func goalOf(k kind) string {
	if k.goal == 0 {
		return ""
	}
	return "≤ " + millis(k.goal)
}

func verdict(k kind, f figures) string {
	switch {
	case k.goal == 0:
		return ""
	case quantile(f.Warm, 0.50) > k.goal:
		return "**missed**"
	case quantile(f.Warm, 0.99) > k.goal:
		return "**p99 missed**"
	}
	return "met"
}

func millis(d time.Duration) string {
	if d >= 10*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
