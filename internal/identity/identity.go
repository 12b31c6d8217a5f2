// Package identity knows who is signed in: users, e-mail codes, sessions, user JWTs, management tokens,
// administrators and the limits on signing in. All of it lives in Postgres, the tokens included: a JWT names its
// session, and that row is read on every use, so that signing out, or losing a place in
// ADMIN_EMAILS, takes effect on the next request on every node. A signature alone could only
// promise that after the token has expired.
package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/secret"
)

// Audience says for which interface a credential is good; it is the aud claim of a token.
type Audience string

// The two kinds of sign-in. A developer's has no administrator rights.
const (
	Developer Audience = "callgate-console"
	Admin     Audience = "callgate-admin"
)

// Principal is who a credential speaks for.
type Principal struct {
	UserID    uuid.UUID // uuid.Nil for administrators, who are known by e-mail
	Email     string    // lower case
	SessionID uuid.UUID
	Audience  Audience
	Access    Access // of a management token; empty: whoever it is has signed in
}

const minSecret = 32 // bytes of JWTSecret and of Pepper

// Config is what the package is told. Zero durations and limits mean the stated defaults.
type Config struct {
	JWTSecret        []byte   // at least 32 bytes; signs tokens and hashes codes
	FormerJWTSecrets [][]byte // the same; they still verify what they have signed
	Issuer           string   // iss claim, "callgate"

	Pepper secret.Pepper // at least 32 bytes; hashes management tokens

	CompanyTokens CompanyTokens // whose tokens are taken besides our own; zero: nobody's
	OIDC          OIDC          // sign-in at the company's provider; zero: none

	TokenTTL        time.Duration // 1 h
	SessionTTL      time.Duration // of a developer, 30 days
	AdminSessionTTL time.Duration // 12 h

	AdminEmails       []string // ADMIN_EMAILS: who may sign in to the back office
	LoginEmailDomains []string // domains developers may sign in with; empty means any

	Limits Limits
	Now    func() time.Time // time.Now
}

// Service signs people in and checks who they are. Its methods may be used concurrently. Their
// errors carry faults, or are those of Postgres.
type Service struct {
	config  Config
	admins  map[string]struct{}
	domains map[string]struct{}
	pool    *pgxpool.Pool
	keys    []signingKey // the first signs
	parser  *jwt.Parser
	company *issuer   // nil when there is none
	oidc    *provider // nil when there is none
	outbox  *outbox
	log     *slog.Logger

	stopHousekeeping context.CancelFunc
	housekeeping     sync.WaitGroup
}

// New checks config, reports every fault of it at once, and starts the mail queue and the removal
// of what has expired; Close stops both.
func New(config Config, pool *pgxpool.Pool, mailer *Mailer, log *slog.Logger) (*Service, error) {
	config = config.withDefaults()
	admins, badAdmins := addressSet(config.AdminEmails)
	domains, badDomains := domainSet(config.LoginEmailDomains)
	if err := errors.Join(config.validate(), badAdmins, badDomains); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	s := &Service{
		config: config, admins: admins, domains: domains, pool: pool,
		keys: signingKeys(config), parser: newParser(config), outbox: newOutbox(mailer, log), log: log,
	}
	if c := config.CompanyTokens; c != (CompanyTokens{}) {
		s.company = newIssuer(c.Issuer, c.Audience, c.JWKSURL, config.Now, log)
	}
	if config.OIDC.Issuer != "" {
		s.oidc = &provider{config: config.OIDC, now: config.Now, log: log}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopHousekeeping = stop
	s.housekeeping.Go(func() { s.keepHouse(ctx) })
	return s, nil
}

// Close sends the mails that are still queued until ctx is done, and drops the rest.
func (s *Service) Close(ctx context.Context) {
	s.stopHousekeeping()
	s.outbox.close(ctx)
	s.housekeeping.Wait()
}

func (c Config) withDefaults() Config {
	setDefault(&c.TokenTTL, time.Hour)
	setDefault(&c.SessionTTL, 30*24*time.Hour)
	setDefault(&c.AdminSessionTTL, 12*time.Hour)
	c.Limits.setDefaults()
	if c.Issuer == "" {
		c.Issuer = "callgate"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func setDefault[T time.Duration | int](value *T, absent T) {
	if *value == 0 {
		*value = absent
	}
}

func (c Config) validate() error {
	var faults []error
	for _, secret := range append([][]byte{c.JWTSecret}, c.FormerJWTSecrets...) {
		if len(secret) < minSecret {
			faults = append(faults, fmt.Errorf("the JWT secret is shorter than %d bytes", minSecret))
		}
	}
	if len(c.Pepper) < minSecret {
		faults = append(faults, fmt.Errorf("the pepper is shorter than %d bytes", minSecret))
	}
	faults = append(faults, c.CompanyTokens.validate(), c.OIDC.validate())
	if c.TokenTTL < time.Second || c.SessionTTL < time.Second || c.AdminSessionTTL < time.Second {
		faults = append(faults, errors.New("tokens and sessions must live for at least a second"))
	}
	faults = append(faults, c.Limits.validate())
	return errors.Join(faults...)
}

func (c Config) sessionTTL(audience Audience) time.Duration {
	if audience == Admin {
		return c.AdminSessionTTL
	}
	return c.SessionTTL
}

// now is the clock of every rule, in the precision Postgres keeps.
func (s *Service) now() time.Time { return s.config.Now().Truncate(time.Microsecond) }

// Tell mails a notice to an address, as TellAdministrators does.
func (s *Service) Tell(ctx context.Context, to, subject, text string) {
	s.outbox.offer(letter{request: context.WithoutCancel(ctx), to: to, notice: &notice{subject: subject, text: text}})
}

// TellAdministrators mails a notice to every administrator but the one whose doing it tells of. Like login codes, it
// is tried for ten minutes and not kept beyond the process: the audit trail is what lasts.
func (s *Service) TellAdministrators(ctx context.Context, actor, subject, text string) {
	for _, to := range slices.Sorted(maps.Keys(s.admins)) {
		if to != actor {
			s.Tell(ctx, to, subject, text)
		}
	}
}

// Administrator tells whether an address, in lower case, is one of an administrator.
func (s *Service) Administrator(email string) bool {
	_, listed := s.admins[email]
	return listed
}
