package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
)

// administrator asks a question instead of an account.
const administrator = -1

// The goals of what administrators ask of all applications together.
const (
	everyonesGoal  = 150 * time.Millisecond // of 30 days
	capabilityGoal = 100 * time.Millisecond
)

// everyonesKinds are the questions of administrators, of 30 days and of nearly all.
func (b *bench) everyonesKinds() (all []kind) {
	month := func(random *rand.Rand) string {
		end := b.Today - beijing.Day(random.IntN(max(1, b.days-29)))
		return daysOf(max(end-29, b.Today-beijing.Day(b.days)+1), end).Encode()
	}
	year := func(random *rand.Rand) string { return b.nearlyAll(random).Encode() }
	for _, path := range []struct {
		name, path, more string
		goal             time.Duration
	}{
		{"everyone: overview", "overview", "", everyonesGoal},
		{"everyone: capabilities", "capabilities", "", everyonesGoal},
		{"everyone: a capability", "capabilities/model-", "", capabilityGoal},
		{"everyone: owners by failures", "owners", "&sort=failures", 0},
		{"everyone: applications by cost", "applications", "&sort=cost", 0},
		{"everyone: upstreams", "upstreams", "", 0},
	} {
		ask := func(days func(*rand.Rand) string) func(context.Context, *rand.Rand) (question, error) {
			return func(_ context.Context, random *rand.Rand) (question, error) {
				of := path.path
				if strings.HasSuffix(of, "-") {
					of += strconv.Itoa(1 + random.IntN(models))
				}
				return question{"/api/admin/statistics/" + of + "?" + days(random) + path.more, administrator}, nil
			}
		}
		all = append(all, kind{path.name + ", 30 days", path.goal, false, ask(month)}, kind{path.name + ", all days", 0, false, ask(year)})
	}
	return all
}

// deskToken signs an administrator in at a console.
func (c *console) deskToken(ctx context.Context) (string, error) {
	if c.desk != "" {
		return c.desk, nil
	}
	session := strings.Repeat("d", 43)
	conn, err := pgx.Connect(ctx, c.bench.engines.DatabaseURL())
	if err != nil {
		return "", fmt.Errorf("administrator's session: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	hash := sha256.Sum256([]byte(session))
	_, err = conn.Exec(ctx, `INSERT INTO sessions (id, audience, email, token_hash, expires_at)
		VALUES ($1, 'callgate-admin', 'admin@example.com', $2, now() + interval '30 days')
		ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at`, uuid.New(), hash[:])
	if err != nil {
		return "", fmt.Errorf("administrator's session: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/admin/auth/token", nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Cookie", "callgate_admin_session="+session)
	request.Header.Set("Origin", c.base)
	response, err := c.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct{ Data struct{ Token string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Data.Token == "" {
		return "", fmt.Errorf("administrator's token: %d, %w", response.StatusCode, err)
	}
	c.desk = answer.Data.Token
	return c.desk, nil
}
