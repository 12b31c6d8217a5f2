package telemetry

import (
	"crypto/tls"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificates remembers until when the certificates are good that TLS peers presented last. It costs a
// handshake a map entry, and a call nothing.
type Certificates struct {
	mu   sync.Mutex
	ends map[string]map[string]time.Time // kind of peer, name of the server
	desc *prometheus.Desc
}

// NewCertificates registers the metric with reg.
func NewCertificates(reg prometheus.Registerer) *Certificates {
	c := &Certificates{ends: map[string]map[string]time.Time{}, desc: prometheus.NewDesc("callgate_certificate_not_after_seconds",
		"Unix time at which the first of the certificates ends that peers of a kind presented last; absent without TLS.", []string{"peer"}, nil)}
	reg.MustRegister(c)
	return c
}

// Watch has a client's TLS configuration note what peers of a kind ("postgres", "clickhouse", "redis", "upstream") present.
// nil, which is no TLS, stays so.
func (c *Certificates) Watch(peer string, config *tls.Config) {
	if config == nil {
		return
	}
	verify := config.VerifyConnection
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if verify != nil {
			if err := verify(state); err != nil {
				return err
			}
		}
		c.note(peer, state)
		return nil
	}
}

func (c *Certificates) note(peer string, state tls.ConnectionState) {
	if len(state.PeerCertificates) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends[peer] == nil {
		c.ends[peer] = map[string]time.Time{}
	}
	c.ends[peer][state.ServerName] = state.PeerCertificates[0].NotAfter
}

// Describe is prometheus.Collector's.
func (c *Certificates) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect is prometheus.Collector's.
func (c *Certificates) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for peer, ends := range c.ends {
		var first time.Time
		for _, end := range ends {
			if first.IsZero() || end.Before(first) {
				first = end
			}
		}
		to <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(first.Unix()), peer)
	}
}
