package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// ownAddresses are spellings of addresses of the platform itself; port is that of a server that
// listens on all of them.
func ownAddresses(t *testing.T, port string) []string {
	t.Helper()
	var all []string
	for _, host := range []string{
		"127.0.0.1", "127.8.8.8", "0.0.0.0", "localhost", "LocalHost.", "sub.localhost", machineName(t),
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]",
		"[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "[::1%25lo]",
		"2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.1", "127.0.0.01", "0",
		"user:secret@127.0.0.1", "api.example.com@127.0.0.1", "127.0.0.1#@api.example.com", `api.example.com\@127.0.0.1`,
		"169.254.169.254", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "192.0.0.192",
	} {
		url, port := "http://"+host, ":"+port
		if cut := strings.IndexByte(host, '#'); cut >= 0 {
			url, port = "http://"+host[:cut]+port+host[cut:], ""
		}
		all = append(all, url+port)
	}
	return all
}

// Loopback and private addresses are refused when an address is saved, when it is checked, and when it is
// dialled although it stands in the catalog, as after a name has come to mean another address.
func TestNoSpellingOfAnOwnAddressIsReachedAsAnUpstream(t *testing.T) {
	var reached atomic.Int64
	target, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				reached.Add(1)
			}
		}}
	go func() { _ = server.Serve(target) }()
	t.Cleanup(func() { _ = server.Close() })
	_, port, err := net.SplitHostPort(target.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err != nil {
		t.Fatal(err)
	} else {
		_ = conn.Close()
	}
	eventually(t, time.Minute, "the target counts", func() error {
		if reached.Load() != 1 {
			return fmt.Errorf("%d connections", reached.Load())
		}
		return nil
	})

	mailbox := embedded.Mails(t)
	environment := map[string]string{
		"DATABASE_URL": embedded.Postgres(t), "CLICKHOUSE_URL": embedded.ClickHouse(t), "REDIS_URL": embedded.Redis(t),
		"JWT_SECRET": strings.Repeat("jwt-secret ", 4), "ACCESS_KEY_PEPPER": strings.Repeat("pepper ", 6), "ENCRYPTION_KEYS": encryptionKey("k1"),
		"ADMIN_EMAILS": "admin@callgate.local", "SMTP_URL": mailbox.URL(), "MAIL_FROM": "callgate@example.com", "SPOOL_DIR": t.TempDir(),
	}
	p := start(t, environment, "serve")
	p.mails = func(email string) (string, error) {
		if caught := mailbox.Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	admin, dev := p.administrator(), p.developer("ssrf@example.com")
	db, err := pgx.Connect(t.Context(), environment["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.Background()) }()
	addresses := ownAddresses(t, port)
	ids := []string{"sentinel"}
	for i := range addresses {
		ids = append(ids, fmt.Sprintf("own-%d", i))
	}
	for _, id := range ids {
		admin.capability(id, "https://api.example.com", upstreamKey)
	}
	_, key := dev.application("SSRF", ids...)

	machine := machineName(t)
	for _, address := range addresses {
		body := object{"id": "saved", "name": "S", "groupId": "e2e", "upstreamBaseUrl": address, "upstreamKey": upstreamKey}
		if status, _ := admin.try("POST", "/api/admin/capabilities", body); status != 400 && (status != 201 || !strings.Contains(address, machine)) {
			t.Errorf("%s is saved with %d", address, status)
		}
		status, e := admin.try("POST", "/api/admin/capabilities/check", object{"upstreamBaseUrl": address, "upstreamKey": upstreamKey})
		if status != 400 && !strings.Contains(string(e.Data), `"ok":false`) {
			t.Errorf("%s is checked with %d %s", address, status, e.Data)
		}
	}

	err = pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE capabilities c SET upstream_base_url = a.address
			FROM unnest($1::text[], $2::text[]) AS a (id, address) WHERE c.id = a.id`, ids[1:], addresses)
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), `UPDATE capabilities SET status = 'disabled' WHERE id = 'sentinel'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the gateway knows of the stored addresses", func() error {
		if status, answer := p.call(key, "sentinel"); status != 403 {
			return fmt.Errorf("%d %s", status, answer)
		}
		return nil
	})
	for i, address := range addresses {
		if check := do[openapi.CheckResult](admin, "POST", "/api/admin/capabilities/check", object{"id": ids[i+1]}); check.OK || check.Status != nil {
			t.Errorf("%s, once stored, is checked: %+v", address, check)
		}
		if status, answer := p.call(key, ids[i+1]); status != 502 || !strings.Contains(answer, "upstream_unreachable") || strings.Contains(answer, "127") {
			t.Errorf("%s, once stored, is called: %d %s", address, status, answer)
		}
	}
	if n := reached.Load() - 1; n != 0 {
		t.Errorf("the target was reached %d times", n)
	}
	t.Logf("%d spellings, each saved, checked, checked once stored, and called: the target was reached %d times", len(addresses), reached.Load()-1)
}

func machineName(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// call calls a capability through the gateway.
func (p *process) call(key, capability string) (status int, answer string) {
	p.t.Helper()
	request, err := http.NewRequest("POST", p.base+"/gateway/v1/x?model="+capability, strings.NewReader("{}"))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}
