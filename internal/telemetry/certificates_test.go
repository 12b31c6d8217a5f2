package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestCertificatesOfPeersAreToldWhenTheyEnd(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	reg := prometheus.NewRegistry()
	certificates := NewCertificates(reg)
	certificates.Watch("redis", nil) // no TLS
	transport := server.Client().Transport.(*http.Transport)
	certificates.Watch("upstream", transport.TLSClientConfig)
	if n, err := testutil.GatherAndCount(reg); n != 0 || err != nil {
		t.Errorf("before any connection: %d, %v", n, err)
	}
	answer, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	var text strings.Builder
	families, err := reg.Gather()
	if err != nil || len(families) != 1 || len(families[0].Metric) != 1 {
		t.Fatalf("%v, %v", families, err)
	}
	metric := families[0].Metric[0]
	text.WriteString(families[0].GetName() + " " + metric.Label[0].GetName() + "=" + metric.Label[0].GetValue())
	if got, want := metric.Gauge.GetValue(), float64(server.Certificate().NotAfter.Unix()); got != want || text.String() != "callgate_certificate_not_after_seconds peer=upstream" {
		t.Errorf("%s is %v, the certificate ends %v", text.String(), got, want)
	}
}
