package alerts

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/secret"
)

// consoleEnv names the database of a console that this binary is to be, instead of tests.
const consoleEnv = "ALERTS_TEST_CONSOLE"

// TestMain lets the test binary be a console, so that a real process can be killed.
func TestMain(m *testing.M) {
	if database := os.Getenv(consoleEnv); database != "" {
		beConsole(database)
		return
	}
	os.Exit(m.Run())
}

// beConsole evaluates and delivers until it is killed, or until whoever started it is gone.
func beConsole(database string) {
	pool, err := pgxpool.New(context.Background(), database)
	if err != nil {
		panic(err)
	}
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		panic(err)
	}
	if _, err := Start(Config{
		Pool: pool, Ring: ring, Source: tables{pool}, AllowPrivate: true, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), pace: quick,
		Mail: func(context.Context, string, string, string) error { return nil }, Administrator: func(string) bool { return true },
	}); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// tables is a Source that reads the failures of applications from a table of the test.
type tables struct{ pool *pgxpool.Pool }

func (t tables) Standing(context.Context) (Standing, error) {
	return Standing{Through: time.Now()}, nil
}

func (t tables) Windows(ctx context.Context, _ TargetType, ids []string, _, _ time.Time) (map[string]Window, error) {
	found := map[string]Window{}
	rows, err := t.pool.Query(ctx, `SELECT id, failures FROM test_causes WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var failures int64
		if err := rows.Scan(&id, &failures); err != nil {
			return nil, err
		}
		found[id] = Window{Calls: 100, Failures: failures}
	}
	return found, rows.Err()
}

func (t tables) LastCalls(context.Context, []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	return nil, errAway
}

func (t tables) Spent(context.Context, []uuid.UUID, beijing.Range) (map[uuid.UUID]Spent, error) {
	return nil, errAway
}

func (t tables) Uses(context.Context, []uuid.UUID) (map[uuid.UUID]map[string]Use, error) {
	return nil, errAway
}

func (t tables) Budgets(context.Context, []uuid.UUID, time.Time) (map[uuid.UUID]map[string]BudgetSpent, error) {
	return nil, errAway
}

func (t tables) ExpiringKeys(context.Context, []uuid.UUID) (map[uuid.UUID]ExpiringKey, error) {
	return nil, errAway
}

func (t tables) LeftOut(context.Context, TargetType, []string) (map[string]LeftOut, error) {
	return nil, errAway
}

// fleet is consoles as processes.
type fleet struct {
	w        *world
	consoles []*exec.Cmd
	killed   int
}

func (f *fleet) start(at int) {
	f.w.T.Helper()
	self, err := os.Executable()
	if err != nil {
		f.w.T.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), consoleEnv+"="+f.w.Pool.Config().ConnString())
	if _, err := cmd.StdinPipe(); err != nil {
		f.w.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.w.T.Fatal(err)
	}
	f.consoles[at] = cmd
}

func (f *fleet) kill(at int) {
	f.w.T.Helper()
	_ = f.consoles[at].Process.Kill()
	_ = f.consoles[at].Wait()
	f.killed++
}
