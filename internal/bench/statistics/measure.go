package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var (
	pepper = strings.Repeat("bench-pepper ", 4)
	ring   = "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
)

// console is a running `callgate serve --role console`.
type console struct {
	bench  *bench
	base   string
	cmd    *exec.Cmd
	said   *bytes.Buffer
	client *http.Client
	desk   string // an administrator's token
}

func (b *bench) startConsole(ctx context.Context, l *ledger) (*console, error) {
	listen, private := freeAddress(), freeAddress()
	c := &console{bench: b, base: "http://" + listen, said: &bytes.Buffer{}, client: &http.Client{Transport: &http.Transport{}}}
	c.cmd = exec.Command(b.binary, "serve", "--role", "console")
	c.cmd.Env = append(b.environment(l), "LISTEN="+listen, "PUBLIC_BASE_URL="+c.base, "METRICS_LISTEN="+private, "LOG_LEVEL=warn", "ACCESS_KEY_PEPPER="+pepper,
		"ENCRYPTION_KEYS="+ring, "JWT_SECRET="+pepper, "SMTP_URL="+b.engines.Mailbox().URL(), "MAIL_FROM=bench@example.com",
		"ADMIN_EMAILS=admin@example.com", "API_RATE_LIMIT=0",
		"DRAIN_DELAY=0s") // nobody is to be led elsewhere
	c.cmd.Stdout, c.cmd.Stderr = c.said, c.said
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the console: %w", err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		response, err := c.client.Get(c.base + "/health/ready")
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return c, nil
			}
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			c.stop()
			return nil, fmt.Errorf("the console is not ready: %w: %s", errors.Join(err, ctx.Err()), c.said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *console) stop() {
	c.client.CloseIdleConnections()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
}

// ask asks a question and gives the body of its answer.
func (c *console) ask(ctx context.Context, q question) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+q.path, nil)
	if err != nil {
		return nil, err
	}
	if q.account == administrator {
		token, err := c.deskToken(ctx)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	} else {
		request.Header.Set("Cookie", "callgate_session="+c.bench.Accounts[q.account].Session)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d: %s", q.path, response.StatusCode, body)
	}
	return body, nil
}

func (c *console) read(ctx context.Context, q question, into any) error {
	body, err := c.ask(ctx, q)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, &struct {
		Data any `json:"data"`
	}{into})
}

// all asks every question once and tells how long each took.
func (c *console) all(ctx context.Context, questions []question) ([]time.Duration, error) {
	took := make([]time.Duration, len(questions))
	for i, q := range questions {
		began := time.Now()
		if _, err := c.ask(ctx, q); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}

// figures are the times of one kind of question.
type figures struct {
	Asked      int
	Cold, Warm []time.Duration // ascending; warm: of each question the median of its rounds
	CPU        time.Duration   // user and system time of ClickHouse and the console for one warm question
	PerShard   []time.Duration // of each shard of these
	Work       work            // of ClickHouse for one warm question
}

func quantile(sorted []time.Duration, level float64) time.Duration {
	return sorted[min(len(sorted)-1, int(level*float64(len(sorted))))]
}

func middleAndMost(sorted []time.Duration) string {
	return fmt.Sprintf("p50 %s, p99 %s", millis(quantile(sorted, 0.50)), millis(quantile(sorted, 0.99)))
}

// measure asks every kind of question, cold and warm, of both ledgers.
func (b *bench) measure(ctx context.Context) (measured [2]map[string]figures, err error) {
	var questions [2][][]question
	for i, l := range b.ledgers {
		measured[i] = map[string]figures{}
		if questions[i], err = b.drawnOf(ctx, l); err != nil {
			return measured, err
		}
	}
	for k, kind := range b.kinds(nil) {
		for i, l := range b.ledgers {
			if k < b.coldKinds {
				if err := b.chill(ctx); err != nil {
					return measured, err
				}
			}
			if measured[i][kind.name], err = b.timed(ctx, l, questions[i][k]); err != nil {
				return measured, fmt.Errorf("%s: %w", kind.name, err)
			}
		}
		before, now := measured[part][kind.name].Warm, measured[whole][kind.name].Warm
		b.say("%s %s: %s, of the smaller ledger %s", time.Now().Format(time.TimeOnly), kind.name, middleAndMost(now), middleAndMost(before))
	}
	return measured, nil
}

// drawnOf gives the questions of every kind to ask of a ledger.
func (b *bench) drawnOf(ctx context.Context, l *ledger) (questions [][]question, err error) {
	c, err := b.startConsole(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	for _, kind := range b.kinds(c) {
		drawn, err := b.drawn(ctx, kind)
		if err != nil {
			return nil, err
		}
		questions = append(questions, drawn)
	}
	return questions, nil
}

// chill starts ClickHouse anew, with its files out of the system's cache.
func (b *bench) chill(ctx context.Context) error {
	for _, name := range b.engineNames() {
		up, err := b.engines.Down(name)
		if err != nil {
			return err
		}
		if err := errors.Join(forget(filepath.Join(b.dir, "engines", name)), up(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// timed asks the questions once cold and some rounds warm.
func (b *bench) timed(ctx context.Context, l *ledger, questions []question) (f figures, err error) {
	c, err := b.startConsole(ctx, l)
	if err != nil {
		return f, err
	}
	defer c.stop()
	f.Asked = len(questions)
	if f.Cold, err = c.all(ctx, questions); err != nil {
		return f, err
	}
	before, err := c.spent(ctx, l)
	if err != nil {
		return f, err
	}
	rounds := make([][]time.Duration, b.warmRounds)
	for i := range rounds {
		if rounds[i], err = c.all(ctx, questions); err != nil {
			return f, err
		}
	}
	after, err := c.spent(ctx, l)
	if err != nil {
		return f, err
	}
	asked := float64(b.warmRounds * len(questions))
	f.CPU = time.Duration(float64(after.cpu-before.cpu) / asked)
	for i := range after.shards {
		f.PerShard = append(f.PerShard, time.Duration(float64(after.shards[i]-before.shards[i])/asked))
	}
	f.Work = work{(after.queries - before.queries) / asked, (after.rows - before.rows) / asked}
	for i := range questions {
		var own []time.Duration
		for _, round := range rounds {
			own = append(own, round[i])
		}
		slices.Sort(own)
		f.Warm = append(f.Warm, own[len(own)/2])
	}
	slices.Sort(f.Cold)
	slices.Sort(f.Warm)
	return f, nil
}

// forget takes the files of a directory out of the system's page cache.
func forget(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		file, err := os.Open(path) //nolint:gosec // files of our own engine
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if err := unix.Fdatasync(int(file.Fd())); err != nil { // pages not yet written stay
			return err
		}
		return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// settle leaves the rollups as an hour leaves them (clickhouse/00013), and waits until ClickHouse merges nothing any
// more, a few minutes at most.
func (b *bench) settle(ctx context.Context) error {
	for _, l := range b.ledgers {
		for _, table := range []string{"usage_daily", "tokens_daily", "failures_daily"} {
			if l.cluster != "" {
				continue // its tables are the shards'
			}
			if _, err := l.ask(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
				return err
			}
		}
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		merging, err := b.ledgers[whole].ask(ctx, "SELECT count() FROM "+b.ledgers[whole].of("system.merges"))
		if err != nil || merging == "0" {
			return err
		}
	}
	return nil
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
