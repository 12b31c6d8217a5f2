package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// printTable prints what was measured, and its growth since there was a tenth of the rows.
func printTable(to io.Writer, b *bench, measured, tenth map[string]figures) error {
	fmt.Fprintf(to, "\n%d calls of %d applications over %d days, %d in the crowded hour, %d in the busy one; %d CPUs, %s/%s, %s\n\n",
		b.Written, b.applications, b.days, b.InHour[0], b.InHour[1], runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| question\t| asked\t| goal, warm\t| warm p50\t| warm p99\t| CPU\t| cold p50\t| cold p99\t| growth\t| \t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, k := range b.kinds(nil) {
		f := measured[k.name]
		middle, worst := quantile(f.Warm, 0.50), quantile(f.Warm, 0.99)
		goal, verdict, growth := "≤ "+millis(k.goal), "met", ""
		switch {
		case k.goal == 0:
			goal, verdict = "", ""
		case middle > k.goal:
			verdict = "**missed**"
		case worst > k.goal:
			verdict = "**p99 missed**"
		}
		if before := tenth[k.name]; before.Asked > 0 {
			factor := float64(middle) / float64(quantile(before.Warm, 0.50))
			growth = fmt.Sprintf("× %.2f (CPU × %.2f)", factor, float64(f.CPU)/float64(max(before.CPU, 1)))
			if k.growth && factor > 1.5 {
				verdict = strings.TrimPrefix(verdict+", **growth missed**", ", ")
			}
		}
		fmt.Fprintf(w, "| %s\t| %d\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t|\n", k.name, f.Asked, goal,
			millis(middle), millis(worst), millis(f.CPU), millis(quantile(f.Cold, 0.50)), millis(quantile(f.Cold, 0.99)), growth, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(to)
	return err
}

func millis(d time.Duration) string {
	if d >= 10*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
