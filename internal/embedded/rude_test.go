package embedded_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Before a terminal stood in for its standard input, each of these ended the engine for everybody.
func TestNoClientCanEndClickHouse(t *testing.T) {
	engines := start(t, dataDir(t))
	dsn := engines.ClickHouseURL()
	exec1(t, "clickhouse", dsn, "CREATE TABLE kept (id Int32) ENGINE = MergeTree ORDER BY id")
	born := engines.PIDs()["clickhouse"]
	for name, behave := range map[string]func(*testing.T, *clickhouse.Options){
		"wrong password":         wrongPassword,
		"no bytes":               sendAndReset(""),
		"garbage":                sendAndReset("\x07\x07\x07\x07\x07\x07\x07"),
		"half a hello":           sendAndReset("\x00\x0aClick"),
		"http":                   sendAndReset("GET / HTTP/1.1\r\n\r\n"),
		"reset while idle":       resetWhileIdle,
		"reset during a query":   resetDuringQueries,
		"reset during an insert": resetDuringInserts,
	} {
		t.Run(name, func(t *testing.T) {
			options, err := clickhouse.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			behave(t, options)
			eventually(t, "ClickHouse has seen every such connection end", func() bool {
				db := open(t, "clickhouse", dsn)
				defer func() { _ = db.Close() }()
				var connections int
				err := db.QueryRowContext(t.Context(), "SELECT toInt64(value) FROM system.metrics WHERE metric = 'TCPConnection'").Scan(&connections)
				return err == nil && connections == 1
			})
			if engines.PIDs()["clickhouse"] != born {
				t.Error("ClickHouse ended and was started again")
			}
		})
	}
}

func wrongPassword(t *testing.T, options *clickhouse.Options) {
	options.Auth.Password = "wrong"
	conn, _ := resettable(t, options)
	if conn.Ping(t.Context()) == nil {
		t.Error("a wrong password is accepted")
	}
}

func sendAndReset(bytes string) func(*testing.T, *clickhouse.Options) {
	return func(t *testing.T, options *clickhouse.Options) {
		for range 20 {
			conn, err := net.Dial("tcp", options.Addr[0])
			if err != nil {
				t.Fatal(err)
			}
			_, _ = conn.Write([]byte(bytes))
			reset(conn)
		}
	}
}

func resetWhileIdle(t *testing.T, options *clickhouse.Options) {
	conn, reset := resettable(t, options)
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	reset()
}

func resetDuringQueries(t *testing.T, options *clickhouse.Options) {
	for i := range 10 {
		conn, reset := resettable(t, options)
		if err := conn.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(i)*5*time.Millisecond, reset)
		_ = conn.Exec(t.Context(), "SELECT sleepEachRow(0.01), number FROM numbers(30) SETTINGS max_block_size = 1")
		_ = conn.Close() // a reset before the query makes the driver dial again
	}
}

func resetDuringInserts(t *testing.T, options *clickhouse.Options) {
	for i := range 20 {
		conn, reset := resettable(t, options)
		batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO kept")
		if err != nil {
			t.Fatal(err)
		}
		if err := batch.Append(int32(i)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			_ = batch.Flush()
		}
		reset()
		_ = batch.Abort()
	}
}

// resettable opens a native connection that can be reset, as the kernel does for a killed client.
func resettable(t *testing.T, options *clickhouse.Options) (clickhouse.Conn, func()) {
	t.Helper()
	var mu sync.Mutex
	var dialled []net.Conn
	options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		dialled = append(dialled, conn)
		return conn, nil
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range dialled {
			reset(c)
		}
	}
}

func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}
