// Package progress tells people how far long work is: with a bar and the time left on a terminal, with a
// plain line now and then where lines are kept.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineEvery is how long work goes on before the next plain line.
const lineEvery = 10 * time.Second

// Output is where progress is shown. The zero value shows none.
type Output struct {
	to       io.Writer
	terminal bool
	every    time.Duration
}

// To shows progress on a file, such as os.Stderr.
func To(f *os.File) Output {
	return Output{to: f, terminal: term.IsTerminal(int(f.Fd())), every: lineEvery} //nolint:gosec // a descriptor is a small number
}

// Meter is one piece of work of a known size. Its methods may be called by several goroutines, and on nil.
type Meter struct {
	output Output
	what   string

	mu          sync.Mutex
	bar         *progressbar.ProgressBar // on a terminal
	done, total int64
	began, said time.Time
}

// Begin starts a piece of work: what is done, in the plural, such as "accounts compared", and how many of
// them there are.
func (o Output) Begin(what string, total int64) *Meter {
	if o.to == nil || total <= 0 {
		return nil
	}
	m := &Meter{output: o, what: what, total: total, began: time.Now(), said: time.Now()}
	if o.terminal {
		m.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(o.to), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
	return m
}

// Add says that n more are done.
func (m *Meter) Add(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = min(m.done+n, m.total)
	if m.bar != nil {
		_ = m.bar.Set64(m.done) // a terminal that is gone stops no work
		return
	}
	if now := time.Now(); now.Sub(m.said) >= m.output.every && m.done < m.total {
		m.said = now
		_, _ = fmt.Fprintf(m.output.to, "%s: %d of %d, about %v left\n", m.what, m.done, m.total, m.left(now))
	}
}

// left is how long the rest takes at the speed so far.
func (m *Meter) left(now time.Time) time.Duration {
	if m.done == 0 {
		return 0
	}
	return time.Duration(float64(now.Sub(m.began)) / float64(m.done) * float64(m.total-m.done)).Round(time.Second)
}

// End takes the bar away, whether or not the work was finished.
func (m *Meter) End() {
	if m == nil || m.bar == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.bar.Clear()
}
