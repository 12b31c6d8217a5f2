// Package nginxtest runs the real nginx with the settings that are shipped, for tests.
package nginxtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Front is a running nginx with deploy/front.conf.
type Front struct {
	// Base is its URL, http://127.0.0.1:port.
	Base string
	dir  string
}

// Start runs nginx on a free port before gateways and consoles (host:port each), until the test ends. Of front.conf
// only addresses are replaced, which need Docker's DNS and a newer nginx than Debian's: what else it says of its servers
// is said of each of these. Changes are made to what nginx is given then. It fails the test where there is no nginx.
func Start(t testing.TB, gateways, consoles []string, changes ...func(conf string) string) *Front {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Fatal("these tests need nginx on the PATH: apt-get install nginx-light, or run make as root")
	}
	dir, listen := t.TempDir(), FreeAddress(t)
	path := filepath.Join(dir, "nginx.conf")
	conf := settings(t, dir, listen, gateways, consoles)
	for _, change := range changes {
		conf = change(conf)
	}
	// master_process off: its workers would change their user.
	main := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
worker_rlimit_nofile 65536;
events { worker_connections 32768; }
http { access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
%[2]s }
`, dir, conf)
	if err := os.WriteFile(path, []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program, "-c", path, "-p", dir)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	f := &Front{Base: "http://" + listen, dir: dir}
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			_ = conn.Close()
			return f
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not answer: %v\n%s", err, f.Log())
		}
	}
}

// Log is what nginx wrote to its error log.
func (f *Front) Log() string {
	text, err := os.ReadFile(filepath.Join(f.dir, "error.log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TakeOut sends no more requests to a gateway, by its place among those of Start, until PutBack; what it was sent goes
// on. nginx is not reloaded for that, which would close its callers' connections.
func (f *Front) TakeOut(t testing.TB, gateway int) {
	t.Helper()
	if err := os.WriteFile(mark(f.dir, gateway), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// PutBack undoes TakeOut.
func (f *Front) PutBack(t testing.TB, gateway int) {
	t.Helper()
	if err := os.Remove(mark(f.dir, gateway)); err != nil {
		t.Fatal(err)
	}
}

// mark is a file that is there while a gateway is taken out.
func mark(dir string, gateway int) string { return filepath.Join(dir, fmt.Sprint("out-", gateway)) }

// settings is front.conf with addresses of the test's.
func settings(t testing.TB, dir, listen string, gateways, consoles []string) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../../deploy/front.conf"))
	if err != nil {
		t.Fatal(err)
	}
	conf := string(text)
	for pattern, with := range map[string]string{
		`(?m)^resolver .*$`:                   "",
		`server gateway:8080 resolve([^;]*);`: servers(gateways),
		`server console:8080 resolve([^;]*);`: servers(consoles),
		`listen 8080( [^;]*);`:                "listen " + listen + "$1;",
	} {
		expression := regexp.MustCompile(pattern)
		if !expression.MatchString(conf) {
			t.Fatalf("front.conf has no %s", pattern)
		}
		conf = expression.ReplaceAllString(conf, with)
	}
	if len(gateways) > 1 {
		conf = removable(conf, dir, gateways)
	}
	return conf
}

// removable adds, for each gateway, an upstream of all others, and takes it while that gateway's mark is there.
func removable(conf, dir string, gateways []string) string {
	all := regexp.MustCompile(`(?m)^upstream gateway \{.*$`).FindString(conf)
	var others, choice strings.Builder
	choice.WriteString("set $gateways gateway;\n")
	for i, address := range gateways {
		name := fmt.Sprint("gateway_without_", i)
		without := regexp.MustCompile(`server `+regexp.QuoteMeta(address)+`[^;]*;`).ReplaceAllString(all, "")
		others.WriteString(strings.NewReplacer("upstream gateway ", "upstream "+name+" ", "zone gateway ", "zone "+name+" ").Replace(without) + "\n")
		fmt.Fprintf(&choice, "if (-f %s) { set $gateways %s; }\n", mark(dir, i), name)
	}
	return others.String() + strings.Replace(conf, "proxy_pass http://gateway;", choice.String()+"proxy_pass http://$gateways;", 1)
}

func servers(addresses []string) string {
	var each strings.Builder
	for _, address := range addresses {
		each.WriteString("server " + address + "$1; ")
	}
	return each.String()
}

// FreeAddress is one of this machine on which nothing listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
