package checks

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"callgate/internal/openapi"
)

// metric is what metrics.md says of one, and what a process exports.
type metric struct{ kind, labels string }

var metricRow = regexp.MustCompile("(?m)^\\| `(callgate_[a-z_]+)` \\| (all|gateway|console) \\| (counter|gauge|histogram) \\| ([a-z, ]*)\\| (.+) \\|$")

func documentedMetrics(t *testing.T) map[string]metric {
	t.Helper()
	text, err := os.ReadFile(deployed("docs/metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]metric{}
	for _, row := range metricRow.FindAllStringSubmatch(string(text), -1) {
		if _, twice := found[row[1]]; twice {
			t.Errorf("metrics.md has %s twice", row[1])
		}
		found[row[1]] = metric{row[3], sortedList(strings.Split(strings.ReplaceAll(row[4], " ", ""), ","))}
	}
	if rows := strings.Count(string(text), "\n| `"); rows != len(found) {
		t.Errorf("%d rows of metrics.md, %d are understood", rows, len(found))
	}
	return found
}

func sortedList(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ",")
}

// scrape reads a process's metrics as Prometheus does.
func scrape(address string) (map[string]*dto.MetricFamily, error) {
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s, %w", address, response.Status, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

func exported(families map[string]*dto.MetricFamily) map[string]metric {
	found := map[string]metric{}
	for name, family := range families {
		if !strings.HasPrefix(name, "callgate_") {
			continue
		}
		var names []string
		for _, pair := range family.Metric[0].Label {
			names = append(names, pair.GetName())
		}
		found[name] = metric{strings.ToLower(family.GetType().String()), sortedList(names)}
	}
	return found
}

// notExportedHere are absent where nothing is spoken to by TLS, and where no upstream is named, as here.
var notExportedHere = []string{
	"callgate_certificate_not_after_seconds", "callgate_gateway_upstream_attempts_total", "callgate_gateway_upstream_breaker",
}

// TestMetricsAreDocumentedAndShownByTheOperatorsDashboard runs the product, calls it in several ways, and holds
// what it exports against metrics.md; the queries of the dashboard are then asked of what was read.
func TestMetricsAreDocumentedAndShownByTheOperatorsDashboard(t *testing.T) {
	address := freeAddress(t)
	d := startDev(t, "METRICS_LISTEN="+address, "CALL_LOG=failures", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+freeAddress(t))
	began := time.Now()
	var read prometheus
	take := func() map[string]*dto.MetricFamily {
		families, err := scrape(address)
		if err != nil {
			t.Fatal(err)
		}
		read.add(families, time.Now())
		return families
	}
	take() // counters that begin to exist with their first event do so after this
	calls(t, d)
	want := documentedMetrics(t)
	eventually(t, time.Minute, "what metrics.md documents is exported, and nothing else", func() error {
		families := take()
		got := exported(families)
		for _, name := range notExportedHere {
			got[name] = want[name]
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("%s", difference(got, want))
		}
		if shipped := families["callgate_spool_records_shipped_total"].Metric[0].Counter.GetValue(); shipped < 3 {
			return fmt.Errorf("%v records are shipped", shipped)
		}
		return nil
	})
	eventually(t, time.Minute, "the dashboard shows data in every panel", func() error {
		take()
		return empty(t, &read, began, time.Now())
	})
}

// calls makes a successful call, one that the upstream fails, one that is refused, and one without a key; then it
// disables the application, which every gateway has to learn.
func calls(t *testing.T, d dev) {
	t.Helper()
	send := func(method, path, credential, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, d.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+credential)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return response.StatusCode
	}
	const path, body = "/gateway/v1/chat/completions?model=", `{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`
	got := []int{
		send(http.MethodPost, path+"demo-chat", d.accessKey, body), send(http.MethodPost, path+"demo-chat", d.accessKey, strings.Replace(body, "demo", "demo-error-500", 1)),
		send(http.MethodPost, path+"none", d.accessKey, body), send(http.MethodPost, path+"demo-chat", "nobody", body),
	}
	list, err := ask[openapi.ApplicationUsagePage](t.Context(), d, "/api/statistics/applications")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, send(http.MethodPatch, "/api/applications/"+list.Items[0].ID.String()+"/status", d.token, `{"status":"disabled"}`))
	if want := []int{200, 500, 403, 401, 200}; !slices.Equal(got, want) {
		t.Fatalf("answers are %v, want %v", got, want)
	}
}

func difference(got, want map[string]metric) string {
	var lines []string
	for name, g := range got {
		if w, ok := want[name]; !ok {
			lines = append(lines, name+" is exported and not in metrics.md")
		} else if w != g {
			lines = append(lines, fmt.Sprintf("%s is exported as %v, metrics.md says %v", name, g, w))
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			lines = append(lines, name+" is in metrics.md and not exported")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// add stores a scrape under the labels that a server adds.
func (p *prometheus) add(families map[string]*dto.MetricFamily, at time.Time) {
	vector, _ := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(at.UnixNano())}, slices.Collect(maps.Values(families))...)
	vector = append(vector, &model.Sample{Metric: model.Metric{"__name__": "up"}, Value: 1, Timestamp: model.TimeFromUnixNano(at.UnixNano())})
	for _, sample := range vector {
		set := map[string]string{"job": "callgate", "instance": "a:9090"}
		for name, value := range sample.Metric {
			set[string(name)] = string(value)
		}
		metric, point := labels.FromMap(set), promql.FPoint{T: at.UnixMilli(), F: float64(sample.Value)}
		known := slices.IndexFunc(p.series, func(s promql.Series) bool { return labels.Equal(s.Metric, metric) })
		if known < 0 {
			known = len(p.series)
			p.series = append(p.series, promql.Series{Metric: metric})
		}
		p.series[known].Floats = append(p.series[known].Floats, point)
	}
}
