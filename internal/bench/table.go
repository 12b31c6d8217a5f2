package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// print writes the table: the goals are those of the call path.
func (r results) print(to io.Writer, e effort) error {
	fmt.Fprintf(to, "%s, %s, %d CPUs, %s/%s, %s\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), processor(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(to, "medians of %d rounds in turns; %d connections, 1 KB each way; %d paced streams; %d held streams\n\n",
		e.rounds, e.clients, e.streams, e.held)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "| what\t| goal\t| result\t| callgate\t| reference\t| nginx\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, line := range r.lines() {
		fmt.Fprintln(w, "| "+strings.Join(line, "\t| ")+"\t|")
	}
	return w.Flush()
}

func (r results) lines() (lines [][]string) {
	add := func(cells ...string) { lines = append(lines, cells) }
	micros := func(value float64) string { return fmt.Sprintf("%.1f µs", value) }
	if row := r[rowCall]; row != nil {
		ours, bare := row["callgate"], row["fasthttp"]
		cpu := func(f *figures) float64 { return median(f.cpu) }
		add("CPU per call ÷ bare fasthttp proxy", "≤ 1.20", spread(pairs(ours.cpu, bare.cpu)), micros(cpu(ours)), micros(cpu(bare)), row.nginx(cpu, micros))
		add("heap allocations per call beyond the proxy's", "≤ 10", fmt.Sprintf("%.1f", median(ours.mallocs)-median(bare.mallocs)),
			fmt.Sprintf("%.1f", median(ours.mallocs)), fmt.Sprintf("%.1f", median(bare.mallocs)), "")
		rate := func(f *figures) float64 { return median(f.rate) }
		perSecond := func(value float64) string { return fmt.Sprintf("%.0f/s", value) }
		add("calls per second, machine saturated", "", spread(pairs(ours.rate, bare.rate)), perSecond(rate(ours)), perSecond(rate(bare)), row.nginx(rate, perSecond))
	}
	if row := r[rowChunk]; row != nil {
		cpu := func(f *figures) float64 { return median(f.cpu) }
		add("CPU per SSE chunk ÷ bare flushing Fiber relay", "≤ 1.10", spread(pairs(row["callgate"].cpu, row["fiber"].cpu)),
			micros(cpu(row["callgate"])), micros(cpu(row["fiber"])), row.nginx(cpu, micros))
	}
	if row := r[rowLatency]; row != nil {
		direct := median(row["upstream"].latency)
		added := func(f *figures) float64 { return median(f.latency) - direct }
		add("added median latency at 2,000 calls/s ÷ bare fasthttp proxy", "≤ 1.3",
			spread(pairs(minus(row["callgate"].latency, row["upstream"].latency), minus(row["fasthttp"].latency, row["upstream"].latency))),
			micros(added(row["callgate"])), micros(added(row["fasthttp"])), row.nginx(added, micros))
	}
	if row := r[rowMemory]; row != nil {
		memory := func(f *figures) float64 { return f.memory }
		kilobytes := func(value float64) string { return fmt.Sprintf("%.1f KB", value/1024) }
		add("memory per held stream, its 1 KB body included", "≤ 24 KB", kilobytes(memory(row["callgate"])),
			kilobytes(memory(row["callgate"])), kilobytes(memory(row["fiber"])), row.nginx(memory, kilobytes))
	}
	return lines
}

// row is the figures of one row by subject.
type row map[string]*figures

func (r row) nginx(pick func(*figures) float64, show func(float64) string) string {
	if r["nginx"] == nil {
		return "not installed"
	}
	return show(pick(r["nginx"]))
}

// pairs divides round by round.
func pairs(ours, theirs []float64) (ratios []float64) {
	for i := range ours {
		ratios = append(ratios, ours[i]/theirs[i])
	}
	return ratios
}

func minus(values, others []float64) (differences []float64) {
	for i := range values {
		differences = append(differences, values[i]-others[i])
	}
	return differences
}

// spread shows the median of the ratios and how far apart they were.
func spread(ratios []float64) string {
	least, most := ratios[0], ratios[0]
	for _, ratio := range ratios {
		least, most = min(least, ratio), max(most, ratio)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(ratios), least, most)
}

// processor is the machine's name for its processor.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name\t: "); ok {
			return name
		}
	}
	return "unknown processor"
}
