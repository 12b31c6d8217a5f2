package boot

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/secret"
)

func ringOf(t *testing.T, keys ...string) *secret.Keyring {
	t.Helper()
	var list []string
	for _, key := range keys { // id, and what it is made of
		id, of, _ := strings.Cut(key, "=")
		list = append(list, id+":"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(of, 32))))
	}
	ring, err := secret.ParseKeyring(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// stored is a database in which a process with some secrets kept an upstream key and an Access Key.
type stored struct {
	databasetest.Database
	upstreams int
}

func (s *stored) keep(ring *secret.Keyring, pepper secret.Pepper) {
	s.T.Helper()
	s.upstreams++
	id := strings.Repeat("u", s.upstreams)
	s.Exec(`INSERT INTO upstreams (id, name, base_url, sealed_key) VALUES ($1, $1, 'http://upstream', $2)`, id, ring.Seal([]byte("key"), secret.SharedUpstreamKeyContext(id)))
	app, owner, key := uuid.New(), uuid.New(), pepper.Mint()
	lookup := pepper.Lookup(key)
	s.Exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, owner, id+"@example.com")
	s.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'a')`, app, owner)
	s.Exec(`INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ($1, $2, $3, 'cg-…')`, app, lookup[:], ring.Seal([]byte(key), secret.AccessKeyContext(app.String())))
}

// fits demands that secrets fit, or a refusal that says all of said.
func (s *stored) fits(what string, ring *secret.Keyring, pepper secret.Pepper, said ...string) {
	s.T.Helper()
	err := secret.Fit(s.Ctx, s.Pool, ring, pepper)
	if len(said) == 0 {
		if err != nil {
			s.T.Errorf("%s: %v", what, err)
		}
		return
	}
	if !errors.Is(err, secret.ErrUnfit) {
		s.T.Fatalf("%s: %v", what, err)
	}
	for _, words := range said {
		if !strings.Contains(err.Error(), words) {
			s.T.Errorf("%s: %v, without %q", what, err, words)
		}
	}
}

// TestSecretsAreHeldToWhatTheFirstProcessWasGiven, before anything is stored, and whether or not something is later.
func TestSecretsAreHeldToWhatTheFirstProcessWasGiven(t *testing.T) {
	s := &stored{Database: databasetest.New(t)}
	pepper, other := secret.Pepper("a pepper"), secret.Pepper("another pepper")
	first := ringOf(t, "k1=a")
	for _, filled := range []bool{false, true} {
		s.fits("the same", first, pepper)
		s.fits("another pepper", first, other, "ACCESS_KEY_PEPPER", other.Fingerprint(), pepper.Fingerprint())
		s.fits("another key of the same id", ringOf(t, "k1=b"), pepper, "key k1 of ENCRYPTION_KEYS", first.Fingerprints()["k1"])
		if !filled {
			s.keep(first, pepper)
		}
	}
	s.fits("without the key", ringOf(t, "k2=b"), pepper, `lacks the key "k1"`, first.Fingerprints()["k1"], "2 values", "upstreams.sealed_key", "access_keys.sealed")
	s.fits("another key is added", ringOf(t, "k1=a", "k2=b"), pepper)
	s.fits("and used, under another content", ringOf(t, "k2=c", "k1=a"), pepper, "key k2")
	both := ringOf(t, "k2=b", "k1=a")
	s.fits("and used", both, pepper)
	s.keep(both, pepper)
	s.fits("the newer one alone", ringOf(t, "k2=b"), pepper, `lacks the key "k1"`)
	s.fits("the older one alone", first, pepper, `lacks the key "k2"`)
	s.Exec(`DELETE FROM upstreams WHERE id = 'u'`)
	s.Exec(`DELETE FROM access_keys WHERE substring(sealed FROM 3 FOR 2) = 'k1'`)
	s.fits("when nothing is under the older one any more", ringOf(t, "k2=b"), pepper)
	s.Exec(`INSERT INTO upstreams (id, name, base_url, sealed_key) VALUES ('x', 'x', 'http://upstream', $1)`, ringOf(t, "k3=d").Seal([]byte("key"), "elsewhere"))
	s.fits("a key that is lost", both, pepper, `lacks the key "k3"`)
	s.Exec(`INSERT INTO secret_fingerprints (name, fingerprint) VALUES ('key k3', 'lost')`)
	s.fits("and given up", both, pepper)
	s.Exec(`UPDATE secret_fingerprints SET fingerprint = $1 WHERE name = 'pepper'`, other.Fingerprint())
	s.fits("a pepper that is changed on purpose", both, other)
}

// TestWhatWasStoredBeforeThereWereFingerprintsTellsItsSecrets, also where some of it is damaged or of a pepper before.
func TestWhatWasStoredBeforeThereWereFingerprintsTellsItsSecrets(t *testing.T) {
	s := &stored{Database: databasetest.New(t)}
	pepper, other, former := secret.Pepper("a pepper"), secret.Pepper("another pepper"), secret.Pepper("a former pepper")
	ring := ringOf(t, "k2=b", "k1=a")
	s.keep(ringOf(t, "k1=a"), former)
	s.keep(ring, pepper)
	s.Exec(`INSERT INTO upstreams (id, name, base_url, sealed_key) VALUES ('z', 'z', 'http://upstream', 'damaged'), ('zz', 'zz', 'http://upstream', $1)`,
		ring.Seal([]byte("key"), "of another row"))
	for range 2 { // what is refused leaves no fingerprint
		s.fits("another pepper", ring, other, "ACCESS_KEY_PEPPER", "2 Access Keys")
		s.fits("another key", ringOf(t, "k2=c", "k1=a"), pepper, `the key "k2"`)
		s.fits("a key less", ringOf(t, "k2=b"), pepper, `lacks the key "k1"`)
	}
	s.fits("its own", ring, pepper)
	s.fits("another pepper, afterwards", ring, other, "ACCESS_KEY_PEPPER", pepper.Fingerprint())
}

// TestProcessesThatStartAtTheSameTimeAgreeOnTheirSecrets: of two that differ one is refused.
func TestProcessesThatStartAtTheSameTimeAgreeOnTheirSecrets(t *testing.T) {
	s := &stored{Database: databasetest.New(t)}
	ring := ringOf(t, "k1=a")
	results := make(chan error, 8)
	for n := range cap(results) {
		go func() { results <- secret.Fit(s.Ctx, s.Pool, ring, secret.Pepper{'p', byte('0' + n%2)}) }()
	}
	fit := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			fit++
		case !errors.Is(err, secret.ErrUnfit):
			t.Error(err)
		}
	}
	if fit != cap(results)/2 {
		t.Errorf("%d of %d fit", fit, cap(results))
	}
}

// TestAProcessIsNotReadyUntilItsSecretsFit, says why, and stays ready when they did.
func TestAProcessIsNotReadyUntilItsSecretsFit(t *testing.T) {
	s := &stored{Database: databasetest.New(t)}
	pepper, other := secret.Pepper("a pepper"), secret.Pepper("another pepper")
	ring := ringOf(t, "k1=a")
	s.fits("the first", ring, pepper)
	said := &lines{}
	f := startFit(s.Pool, ring, other, slog.New(slog.NewTextHandler(said, nil)))
	defer f.Close()
	for end := time.Now().Add(10 * time.Second); !strings.Contains(said.String(), "ACCESS_KEY_PEPPER is another one"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing is said: %s", said)
		}
	}
	if f.ready(s.Ctx) == nil {
		t.Error("ready")
	}
	s.Exec(`UPDATE secret_fingerprints SET fingerprint = $1 WHERE name = 'pepper'`, other.Fingerprint())
	for end := time.Now().Add(10 * time.Second); f.ready(s.Ctx) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not ready though they fit")
		}
	}
	s.Exec(`DROP TABLE secret_fingerprints`)
	if err := f.ready(context.Background()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(said.String(), "level=ERROR"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
}

// lines are what is logged, written and read at the same time.
type lines struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}
