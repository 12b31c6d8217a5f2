package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"callgate/internal/embedded"
)

// TestClickHousesCertificateIsWatchedByEveryRole has gateway and console speak to ClickHouse by TLS, native and by HTTP,
// and reads when its certificate ends from their metrics, which the alert is made of.
func TestClickHousesCertificateIsWatchedByEveryRole(t *testing.T) {
	engines := embedded.Own(t)
	environment := production(t, engines)
	migrate(t, environment)
	trusted := newAuthority(t)
	certificate, key := trusted.certify(t, net.IPv4(127, 0, 0, 1))
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	environment["SSL_CERT_FILE"] = trusted.file
	for _, address := range []string{engines.ClickHouseDSN(), engines.ClickHouseHTTPURL()} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = secured(t, u.Host, pair)
		query := u.Query()
		query.Set("secure", "true")
		if u.Scheme == "http" {
			u.Scheme = "https"
		}
		u.RawQuery = query.Encode()
		environment["CLICKHOUSE_URL"] = u.String()
		for _, role := range []string{"gateway", "console"} {
			environment["METRICS_LISTEN"] = freeAddress(t)
			p := start(t, environment, "serve", "--role", role)
			want := fmt.Sprintf(`callgate_certificate_not_after_seconds{peer="clickhouse"} %v`, float64(leaf.NotAfter.Unix()))
			eventually(t, time.Minute, role+" has seen the certificate", func() error {
				resp, err := http.Get("http://" + environment["METRICS_LISTEN"] + "/metrics")
				if err != nil {
					return err
				}
				defer func() { _ = resp.Body.Close() }()
				text, err := io.ReadAll(resp.Body)
				if err == nil && !strings.Contains(string(text), want) {
					err = fmt.Errorf("%s is not among the metrics", want)
				}
				return err
			})
			p.stop(syscall.SIGTERM)
		}
	}
}

// secured is an address at which what an address serves is had by TLS.
func secured(t *testing.T, behind string, certificate tls.Certificate) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", behind)
			if err != nil {
				_ = here.Close()
				continue
			}
			go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
			go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
		}
	}()
	return l.Addr().String()
}
