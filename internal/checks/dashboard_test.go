package checks

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// operatorsBoard is the part of the operators' dashboard that asks.
type operatorsBoard struct {
	Panels []struct {
		Title, Description, Type string
		Targets                  []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

func readOperatorsBoard(t *testing.T) (b operatorsBoard) {
	t.Helper()
	text, err := os.ReadFile(deployed("chart/files/dashboard.json"))
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asSent makes what Grafana sends of a query with everything chosen.
func asSent(expression string) string {
	return strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$instance", ".*").Replace(expression)
}

// absentHere are panels that show nothing while all is well, or without TLS; their queries are held by the names alone.
var absentHere = map[string]bool{"Certificates end in": true}

// empty says which panels show nothing of what was read between two times.
func empty(t *testing.T, p *prometheus, from, to time.Time) error {
	t.Helper()
	var faults []error
	for _, panel := range readOperatorsBoard(t).Panels {
		for _, target := range panel.Targets {
			numbers := 0
			for _, series := range p.over(t, asSent(target.Expr), from, to, max(to.Sub(from)/20, time.Millisecond)) {
				for _, point := range series.Floats {
					if !math.IsNaN(point.F) {
						numbers++
					}
				}
			}
			if numbers == 0 && !absentHere[panel.Title] {
				faults = append(faults, fmt.Errorf("%s: nothing for %s", panel.Title, target.Expr))
			}
		}
	}
	return errors.Join(faults...)
}

func TestOperatorsDashboardAsksForMetricsThatThereAre(t *testing.T) {
	known := map[string]bool{"up": true}
	for name, m := range documentedMetrics(t) {
		known[name] = m.kind != "histogram"
		if m.kind == "histogram" {
			known[name+"_bucket"], known[name+"_sum"], known[name+"_count"] = true, true, true
		}
	}
	for _, name := range []string{"process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds", "go_goroutines"} {
		known[name] = true // of Prometheus' client library
	}
	b := readOperatorsBoard(t)
	if len(b.Panels) < 15 {
		t.Errorf("%d panels", len(b.Panels))
	}
	for _, panel := range b.Panels {
		if panel.Type == "row" {
			continue
		}
		if panel.Title == "" || panel.Description == "" || len(panel.Targets) == 0 {
			t.Errorf("panel %q is not explained, or asks nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			for _, name := range namesIn(t, asSent(target.Expr)) {
				if !known[name] {
					t.Errorf("%s asks for %s, which is not in metrics.md", panel.Title, name)
				}
			}
		}
	}
}

// TestPanelsThatAWellRunWithoutTLSLeavesEmptyShowWhatThereIs asks what absentHere excuses, of a process that speaks TLS.
func TestPanelsThatAWellRunWithoutTLSLeavesEmptyShowWhatThereIs(t *testing.T) {
	var p prometheus
	p.written(t, `callgate_certificate_not_after_seconds{instance="a",peer="clickhouse"} 1300000x30`)
	asked := 0
	for _, panel := range readOperatorsBoard(t).Panels {
		if !absentHere[panel.Title] {
			continue
		}
		for _, target := range panel.Targets {
			asked++
			if shown := p.over(t, asSent(target.Expr), epoch, epoch.Add(20*time.Minute), time.Minute); len(shown) == 0 {
				t.Errorf("%s: nothing for %s", panel.Title, target.Expr)
			}
		}
	}
	if asked < len(absentHere) {
		t.Errorf("%d queries were asked", asked)
	}
}
