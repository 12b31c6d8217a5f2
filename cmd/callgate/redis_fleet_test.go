package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisFleet is several Redis servers by TLS, of which one can fail. With EMBEDDED_REDIS=server they are real ones
// that decide for themselves who takes over; without, servers in this process stand for them, and what watches
// them is played.
type redisFleet struct {
	t         *testing.T
	authority *authority
	pair      tls.Certificate
	url       string
	client    redis.UniversalClient
	fail      func() // kills a server that has data; another one takes over
	children  map[int]*exec.Cmd
}

func realRedis() bool { return os.Getenv("EMBEDDED_REDIS") == "server" }

func newRedisFleet(t *testing.T) *redisFleet {
	t.Helper()
	f := &redisFleet{t: t, authority: newAuthority(t), children: map[int]*exec.Cmd{}}
	certificate, key := f.authority.certify(t, net.IPv4(127, 0, 0, 1))
	var err error
	if f.pair, err = tls.X509KeyPair(certificate, key); err != nil {
		t.Fatal(err)
	}
	return f
}

// trusting are the TLS settings of a client of the fleet.
func (f *redisFleet) trusting() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(f.authority.certificate)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// sentinels is a master with a replica, and three sentinels that watch them.
func sentinels(t *testing.T) *redisFleet {
	f := newRedisFleet(t)
	var watchers []int
	if realRedis() {
		master := f.run("tls-replication yes")
		f.run("tls-replication yes", fmt.Sprintf("replicaof 127.0.0.1 %d", master))
		for range 3 {
			watchers = append(watchers, f.run("sentinel", "tls-replication yes", fmt.Sprintf("sentinel monitor main 127.0.0.1 %d 2", master),
				"sentinel down-after-milliseconds main 500", "sentinel failover-timeout main 3000"))
		}
		f.fail = func() { f.kill(master) }
	} else {
		first, second := f.inProcess(), f.inProcess()
		var master atomic.Int64
		master.Store(int64(first.Server().Addr().Port))
		for range 3 {
			watchers = append(watchers, f.playSentinel(&master))
		}
		f.fail = func() { first.Close(); master.Store(int64(second.Server().Addr().Port)) }
	}
	f.url = fmt.Sprintf("rediss+sentinel://127.0.0.1:%d/0?master_name=main&addr=127.0.0.1:%d&addr=127.0.0.1:%d", watchers[0], watchers[1], watchers[2])
	options, err := redis.ParseFailoverURL(strings.Replace(f.url, "+sentinel", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	options.TLSConfig = f.trusting()
	f.use(redis.NewFailoverClient(options))
	if realRedis() {
		for _, port := range watchers {
			f.awaitSentinel(port)
		}
	}
	return f
}

// cluster is a cluster of three masters with a replica each.
func cluster(t *testing.T) *redisFleet {
	f := newRedisFleet(t)
	var ports []int
	if realRedis() {
		var addresses []string
		for range 6 {
			ports = append(ports, f.run("cluster-enabled yes", "tls-cluster yes", "tls-replication yes", "cluster-announce-ip 127.0.0.1", "cluster-node-timeout 1000"))
			addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", ports[len(ports)-1]))
		}
		arguments := append([]string{"--tls", "--cacert", f.authority.file, "--cluster-yes", "--cluster-replicas", "1", "--cluster", "create"}, addresses...)
		eventually(t, time.Minute, "the cluster is made", func() error {
			out, err := exec.Command("redis-cli", arguments...).CombinedOutput()
			if err != nil && !strings.Contains(string(out), "is not empty") {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	} else {
		first, second := f.inProcess(), f.inProcess()
		ports = []int{first.Server().Addr().Port, second.Server().Addr().Port}
		f.fail = first.Close
	}
	f.url = fmt.Sprintf("rediss+cluster://127.0.0.1:%d?addr=127.0.0.1:%d", ports[0], ports[1])
	options, err := redis.ParseClusterURL(strings.Replace(f.url, "+cluster", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	options.TLSConfig = f.trusting()
	client := redis.NewClusterClient(options)
	f.use(client)
	if realRedis() {
		f.awaitReplicas(client)
		f.fail = func() { f.kill(f.fullest(client)) }
	}
	return f
}

func (f *redisFleet) use(client redis.UniversalClient) {
	f.client = client
	f.t.Cleanup(func() { _ = client.Close() })
	f.awaitWrites("the fleet takes writes")
}

func (f *redisFleet) awaitWrites(what string) {
	f.t.Helper()
	eventually(f.t, time.Minute, what, func() error {
		ctx, cancel := context.WithTimeout(f.t.Context(), time.Second)
		defer cancel()
		for n := range 30 { // of every master of a cluster
			if err := f.client.Set(ctx, fmt.Sprint("probe ", n), "1", time.Minute).Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// grants are what gateways have kept in the servers that live.
func (f *redisFleet) grants() (keys []string, err error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Second)
	defer cancel()
	list := func(ctx context.Context, server *redis.Client) error {
		found, err := server.Keys(ctx, "callgate:grant:*").Result()
		keys = append(keys, found...)
		return err
	}
	switch client := f.client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, func(ctx context.Context, server *redis.Client) error { return list(ctx, server) })
	case *redis.Client:
		err = list(ctx, client)
	}
	slices.Sort(keys)
	return keys, err
}

// fullest is the port of the master that has most grants.
func (f *redisFleet) fullest(client *redis.ClusterClient) (port int) {
	f.t.Helper()
	var mu sync.Mutex
	most := -1
	err := client.ForEachMaster(f.t.Context(), func(ctx context.Context, server *redis.Client) error {
		keys, err := server.Keys(ctx, "callgate:grant:*").Result()
		mu.Lock()
		defer mu.Unlock()
		if len(keys) > most {
			most = len(keys)
			_, _ = fmt.Sscanf(server.Options().Addr, "127.0.0.1:%d", &port)
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return port
}

// awaitSentinel waits until a sentinel knows the replica and the other sentinels.
func (f *redisFleet) awaitSentinel(port int) {
	f.t.Helper()
	sentinel := redis.NewSentinelClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port), TLSConfig: f.trusting()})
	defer func() { _ = sentinel.Close() }()
	eventually(f.t, time.Minute, "the sentinels know each other", func() error {
		master, err := sentinel.Master(f.t.Context(), "main").Result()
		if err == nil && (master["num-slaves"] != "1" || master["num-other-sentinels"] != "2") {
			err = fmt.Errorf("%v", master)
		}
		return err
	})
}

// awaitReplicas waits until each master's replica has its data: one that has none does not take over.
func (f *redisFleet) awaitReplicas(client *redis.ClusterClient) {
	f.t.Helper()
	eventually(f.t, time.Minute, "three replicas follow", func() error {
		var following atomic.Int64
		client.ReloadState(f.t.Context())
		err := client.ForEachSlave(f.t.Context(), func(ctx context.Context, server *redis.Client) error {
			info, err := server.Info(ctx, "replication").Result()
			if strings.Contains(info, "master_link_status:up") {
				following.Add(1)
			}
			return err
		})
		if err == nil && following.Load() != 3 {
			err = fmt.Errorf("%d do", following.Load())
		}
		return err
	})
}
