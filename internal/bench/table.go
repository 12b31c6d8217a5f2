package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// print writes the table: the goals are those of the call path.
func (r results) print(to io.Writer, e effort, beside []string) error {
	fmt.Fprintf(to, "%s, %s, %d CPUs, %s/%s, %s\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), processor(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(to, "medians of %d rounds in turns after each of %d starts; %d connections, 1 KB each way; %d paced streams; %d held streams\n\n",
		e.rounds, e.starts, e.clients, e.streams, e.held)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	header := append([]string{"what", "goal", "result", "callgate", "reference", "floor", "nginx"}, beside...)
	fmt.Fprintln(w, "| "+strings.Join(header, "\t| ")+"\t|")
	fmt.Fprintln(w, strings.Repeat("|---\t", len(header))+"|")
	for _, line := range r.lines(beside, e.starts) {
		fmt.Fprintln(w, "| "+strings.Join(line, "\t| ")+"\t|")
	}
	return w.Flush()
}

// lines are the rows that were measured: ratios to the reference, round by round, and the medians; of each
// build beside callgate the median, and the ratio of callgate's to it.
func (r results) lines(beside []string, starts int) (lines [][]string) {
	add := func(cells ...string) { lines = append(lines, cells) }
	compare := func(row, reference, what, goal string, pick func(*figures) []float64, show func(float64) string) {
		subjects := r[row]
		if subjects == nil {
			return
		}
		middle := func(subject string) string {
			if subjects[subject] == nil {
				return "–"
			}
			return show(median(pick(subjects[subject])))
		}
		ours := pick(subjects["callgate"])
		cells := []string{
			what, goal, spread(pairs(ours, pick(subjects[reference]))),
			middle("callgate"), middle(reference), middle("loop"), middle("nginx"),
		}
		for _, other := range beside {
			cells = append(cells, middle(other)+", "+ratioOfMedians(ours, pick(subjects[other]), starts))
		}
		add(cells...)
	}
	cpu := func(f *figures) []float64 { return f.cpu }
	compare(rowCall, "fasthttp", "CPU per call ÷ bare fasthttp proxy", "≤ 1.10", cpu, micros)
	compare(rowCall, "fasthttp", "calls per second, machine saturated ÷ bare fasthttp proxy", "", func(f *figures) []float64 { return f.rate },
		func(value float64) string { return fmt.Sprintf("%.0f/s", value) })
	if row := r[rowCall]; row != nil {
		ours, bare := median(row["callgate"].mallocs), median(row["fasthttp"].mallocs)
		add("heap allocations per call beyond the proxy's", "≤ 5", fmt.Sprintf("%.1f", ours-bare), fmt.Sprintf("%.1f", ours),
			fmt.Sprintf("%.1f", bare), fmt.Sprintf("%.1f", median(row["loop"].mallocs)), "")
	}
	compare(rowChunkedCall, "fiber", "CPU per call with a chunked answer ÷ bare Fiber relay", "≤ 0.95", cpu, micros)
	compare(rowPaced, "fasthttp", "CPU per call at 2,000 calls/s ÷ bare fasthttp proxy", "≤ 1.10", cpu, micros)
	compare(rowSecure, "fasthttps", "CPU per call, TLS to the upstream ÷ bare fasthttp with TLS", "≤ 1.15", cpu, micros)
	compare(rowChunk, "fiber", "CPU per SSE chunk, paced ÷ bare flushing Fiber relay", "≤ 0.85", cpu, micros)
	compare(rowBurst, "fiber", "CPU per SSE chunk, 20 at once ÷ bare flushing Fiber relay", "≤ 0.80", cpu, micros)
	compare(rowLatency, "fasthttp", "added median latency at 2,000 calls/s ÷ bare fasthttp proxy", "≤ 1.0",
		func(f *figures) []float64 { return minus(f.latency, r[rowLatency]["upstream"].latency) }, micros)
	if row := r[rowMemory]; row != nil {
		kilobytes := func(subject string) string {
			if row[subject] == nil {
				return "–"
			}
			return fmt.Sprintf("%.1f KB", row[subject].memory/1024)
		}
		result := "nginx is not installed"
		if row["nginx"] != nil {
			result = fmt.Sprintf("%.2f", row["callgate"].memory/row["nginx"].memory)
		}
		cells := []string{"memory per held stream, its 1 KB body included ÷ nginx", "≤ 1.0", result, kilobytes("callgate"), kilobytes("fiber"), kilobytes("loop"), kilobytes("nginx")}
		for _, other := range beside {
			cells = append(cells, kilobytes(other))
		}
		add(cells...)
	}
	return append(lines, r.usageLines(starts)...)
}

func micros(value float64) string { return fmt.Sprintf("%.1f µs", value) }

// row is the figures of one row by subject.
type row map[string]*figures

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

// resamplings are enough for both ends of an interval of 95 % to have fifty beyond them.
const resamplings = 2_000

// ratioOfMedians tells builds apart whose rounds differ by more than the builds: behind the ratio is what 95 % of resamplings lie
// between, of the starts, where there are several with as many rounds each, else of the rounds.
func ratioOfMedians(ours, theirs []float64, starts int) string {
	return resampled(ours, theirs, starts, func(ours, theirs []float64) float64 { return median(ours) / median(theirs) })
}

// medianOfRatios is the same for turns that come in pairs, of which noise hits both.
func medianOfRatios(ours, theirs []float64, starts int) string {
	return resampled(ours, theirs, starts, func(ours, theirs []float64) float64 { return median(pairs(ours, theirs)) })
}

func resampled(ours, theirs []float64, starts int, figure func(ours, theirs []float64) float64) string {
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- statistics
	together := 1                         // rounds
	if starts > 1 {
		together = len(ours) / starts
	}
	figures := make([]float64, resamplings)
	for i := range figures {
		var a, b []float64
		for range len(ours) / together {
			from := random.IntN(len(ours)/together) * together
			a, b = append(a, ours[from:from+together]...), append(b, theirs[from:from+together]...)
		}
		figures[i] = figure(a, b)
	}
	slices.Sort(figures)
	const beyond = resamplings / 40
	return fmt.Sprintf("%.3f (%.3f–%.3f)", figure(ours, theirs), figures[beyond], figures[resamplings-1-beyond])
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
