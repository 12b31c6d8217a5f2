package boot

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"

	"callgate/internal/telemetry"
)

// redisTLS is a Redis that speaks TLS only: in process, or with EMBEDDED_REDIS=server the real one.
type redisTLS struct {
	t     *testing.T
	dir   string
	roots *x509.CertPool
	// Of the two that a client meets, each has a certificate for its own name alone.
	node, sentinel tls.Certificate
}

func newRedisTLS(t *testing.T) *redisTLS {
	t.Helper()
	r := &redisTLS{t: t, dir: t.TempDir(), roots: x509.NewCertPool()}
	r.node = r.certify("node", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	r.sentinel = r.certify("sentinel", &x509.Certificate{DNSNames: []string{"localhost"}})
	return r
}

// certify makes a certificate that vouches for itself.
func (r *redisTLS) certify(name string, of *x509.Certificate) tls.Certificate {
	r.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	r.must(err)
	of.SerialNumber, of.IsCA, of.BasicConstraintsValid = big.NewInt(1), true, true
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	r.must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	r.must(err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	r.must(os.WriteFile(filepath.Join(r.dir, name+".crt"), certificate, 0o600))
	r.must(os.WriteFile(filepath.Join(r.dir, name+".key"), secret, 0o600))
	r.roots.AppendCertsFromPEM(certificate)
	pair, err := tls.X509KeyPair(certificate, secret)
	r.must(err)
	return pair
}

func (r *redisTLS) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func realRedis() bool { return os.Getenv("EMBEDDED_REDIS") == "server" }

// startNode gives the port of a server that keeps data.
func (r *redisTLS) startNode(cluster bool) (port int) {
	r.t.Helper()
	if !realRedis() {
		m := miniredis.NewMiniRedis()
		r.must(m.StartTLS(&tls.Config{Certificates: []tls.Certificate{r.node}}))
		r.t.Cleanup(m.Close)
		return m.Server().Addr().Port
	}
	if !cluster {
		return r.run("node")
	}
	port = r.run("node", "cluster-enabled yes", "tls-cluster yes", "cluster-announce-ip 127.0.0.1")
	options := &redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port), TLSConfig: &tls.Config{RootCAs: r.roots}}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	r.until(func(ctx context.Context) error { return client.Ping(ctx).Err() })
	r.must(client.ClusterAddSlotsRange(r.t.Context(), 0, 16383).Err())
	r.until(func(ctx context.Context) error {
		if info, err := client.ClusterInfo(ctx).Result(); err != nil || !strings.Contains(info, "cluster_state:ok") {
			return fmt.Errorf("%s, %w", info, err)
		}
		return nil
	})
	return port
}

// startSentinel gives the port of a sentinel that names the server at master.
func (r *redisTLS) startSentinel(master int) (port int) {
	r.t.Helper()
	if realRedis() {
		return r.run("sentinel", "tls-replication yes", fmt.Sprintf("sentinel monitor main 127.0.0.1 %d 1", master))
	}
	s, err := server.NewServerTLS("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{r.sentinel}})
	r.must(err)
	r.t.Cleanup(s.Close)
	r.must(s.Register("SENTINEL", func(c *server.Peer, _ string, args []string) {
		if strings.EqualFold(args[0], "get-master-addr-by-name") {
			c.WriteStrings([]string{"127.0.0.1", fmt.Sprint(master)})
			return
		}
		c.WriteLen(0)
	}))
	return s.Addr().Port
}

// run starts a redis-server on a free port, with the certificate of that name.
func (r *redisTLS) run(name string, lines ...string) (port int) {
	r.t.Helper()
	for port == 0 || port > 55_000 { // a cluster's node uses the port 10,000 above too
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		r.must(err)
		port = listener.Addr().(*net.TCPAddr).Port
		_ = listener.Close()
	}
	in := func(file string) string { return filepath.Join(r.dir, file) }
	lines = append(lines, "bind 127.0.0.1", "port 0", fmt.Sprintf("tls-port %d", port), "tls-auth-clients no", `save ""`, "dir "+r.dir,
		"tls-cert-file "+in(name+".crt"), "tls-key-file "+in(name+".key"), "tls-ca-cert-file "+in("node.crt"))
	config := in(fmt.Sprintf("%d.conf", port))
	r.must(os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	arguments := []string{config}
	if name == "sentinel" {
		arguments = append(arguments, "--sentinel")
	}
	child := exec.Command("redis-server", arguments...)
	r.must(child.Start())
	r.t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	return port
}

func (r *redisTLS) until(done func(context.Context) error) {
	r.t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := done(r.t.Context())
		if err == nil {
			return
		}
		if time.Now().After(end) {
			r.t.Fatal(err)
		}
	}
}

func TestEveryKindOfRedisIsReachedByTLSUnderItsOwnName(t *testing.T) {
	r := newRedisTLS(t)
	single := r.startNode(false)
	for kind, url := range map[string]string{
		"single":   fmt.Sprintf("rediss://127.0.0.1:%d/0", single),
		"cluster":  fmt.Sprintf("rediss+cluster://127.0.0.1:%d", r.startNode(true)),
		"sentinel": fmt.Sprintf("rediss+sentinel://localhost:%d/0?master_name=main", r.startSentinel(single)),
	} {
		metrics := prometheus.NewRegistry()
		client, err := openRedis(url, telemetry.NewCertificates(metrics).Watch)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		t.Cleanup(func() { _ = client.Close() })
		trust(client, r.roots)
		r.until(func(ctx context.Context) error { return client.Set(ctx, "said", kind, time.Minute).Err() })
		if got, err := client.Get(t.Context(), "said").Result(); err != nil || got != kind {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
		if n, err := testutil.GatherAndCount(metrics, "callgate_certificate_not_after_seconds"); n != 1 || err != nil {
			t.Errorf("%s: %d certificates are told when they end, %v", kind, n, err)
		}
	}
}

// trust does for the test what the system's certificates do in production.
func trust(client redis.UniversalClient, roots *x509.CertPool) {
	switch client := client.(type) {
	case *redis.Client:
		client.Options().TLSConfig.RootCAs = roots
	case *redis.ClusterClient:
		client.Options().TLSConfig.RootCAs = roots
	}
}
