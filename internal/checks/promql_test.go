package checks

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// prometheus is Prometheus' own engine over series in memory.
type prometheus struct {
	series []promql.Series
}

var (
	dialect = parser.NewParser(parser.Options{})
	engine  = promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, Parser: dialect})
)

// epoch is when series written by hand begin.
var epoch = time.UnixMilli(0)

// written adds series in the notation of Prometheus' own rule tests: `name{label="value"} 0+1x10`, a value a minute.
func (p *prometheus) written(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		metric, values, err := dialect.ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		one := promql.Series{Metric: metric}
		for i, value := range values {
			if !value.Omitted && !math.IsNaN(value.Value) { // a stale marker is a value that is not there: 5 minutes later, here
				one.Floats = append(one.Floats, promql.FPoint{T: int64(i) * time.Minute.Milliseconds(), F: value.Value})
			}
		}
		p.series = append(p.series, one)
	}
}

// over evaluates an expression every step from one time to another.
func (p *prometheus) over(t *testing.T, expression string, from, to time.Time, step time.Duration) promql.Matrix {
	t.Helper()
	query, err := engine.NewRangeQuery(t.Context(), p, nil, expression, from, to, step)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	defer query.Close()
	result := query.Exec(t.Context())
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	for _, warning := range result.Warnings.AsErrors() {
		t.Errorf("%s: %v", expression, warning)
	}
	return slices.DeleteFunc(slices.Clone(matrix), func(s promql.Series) bool { return len(s.Floats) == 0 })
}

// Querier makes p a storage.Queryable.
func (p *prometheus) Querier(int64, int64) (storage.Querier, error) { return p, nil }

// Select gives the series whose labels match.
func (p *prometheus) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	found := &selection{}
	for _, s := range p.series {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Metric.Get(m.Name)) }) {
			found.rest = append(found.rest, s)
		}
	}
	slices.SortFunc(found.rest, func(a, b promql.Series) int { return labels.Compare(a.Metric, b.Metric) })
	return found
}

// LabelValues and LabelNames are not asked by queries.
func (p *prometheus) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames is not asked by queries.
func (p *prometheus) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close frees nothing.
func (p *prometheus) Close() error { return nil }

type selection struct {
	at   promql.Series
	rest []promql.Series
}

func (s *selection) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.at, s.rest = s.rest[0], s.rest[1:]
	return true
}
func (s *selection) At() storage.Series                { return promql.NewStorageSeries(s.at) }
func (s *selection) Err() error                        { return nil }
func (s *selection) Warnings() annotations.Annotations { return nil }

// rules are those of deploy/chart/files/alerts.yaml, read as Prometheus reads them: those that record, in their order,
// and the alerts.
func rules(t *testing.T) (recordings, alerts []rulefmt.Rule) {
	t.Helper()
	text, err := os.ReadFile(deployed("chart/files/alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	groups, faults := rulefmt.Parse(text, false, model.LegacyValidation, dialect, nil)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Record != "" {
				recordings = append(recordings, rule)
			} else {
				alerts = append(alerts, rule)
			}
		}
	}
	return recordings, alerts
}

// namesIn are the metrics that an expression reads.
func namesIn(t *testing.T, expression string) (names []string) {
	t.Helper()
	parsed, err := dialect.ParseExpr(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names = append(names, strings.TrimSpace(selector.Name))
		}
		return nil
	})
	return names
}
