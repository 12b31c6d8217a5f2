package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

const (
	mailUser     = "callgate@example.com"
	mailPassword = "p@ss/word:é"
)

// post is an SMTP server that takes mail over TLS from one user only, and notes what it hears.
type post struct {
	address string
	trusted *x509.CertPool

	mu    sync.Mutex
	heard []string // passwords and mails, in the clear or not
	mails []string
}

type protection int

const (
	fromTheStart protection = iota
	byCommand
	none
)

func startPost(t *testing.T, how protection) *post {
	t.Helper()
	certificate, pool := selfSigned(t)
	p := &post{trusted: pool}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &counter{post: p, conn: c}, nil
	}))
	server.AllowInsecureAuth = true // a careless server: the client must be the careful one
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = listener.Addr().String()
	switch how {
	case fromTheStart:
		listener = tls.NewListener(listener, settings)
	case byCommand:
		server.TLSConfig = settings
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); _ = listener.Close(); <-served })
	return p
}

// all is what was heard and the mails among it.
func (p *post) all() (heard, mails []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.heard), slices.Clone(p.mails)
}

func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// counter is one session at the post.
type counter struct {
	post   *post
	conn   *smtp.Conn
	signed bool
}

func (c *counter) note(word string) {
	c.post.mu.Lock()
	defer c.post.mu.Unlock()
	c.post.heard = append(c.post.heard, word)
}

func (c *counter) AuthMechanisms() []string { return []string{sasl.Plain} }

func (c *counter) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		c.note(password)
		if c.signed = user == mailUser && password == mailPassword; !c.signed {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (c *counter) Mail(string, *smtp.MailOptions) error {
	if _, private := c.conn.TLSConnectionState(); !private || !c.signed {
		return errors.New("over TLS and signed in only")
	}
	return nil
}

func (c *counter) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (c *counter) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	c.note(string(text))
	c.post.mu.Lock()
	defer c.post.mu.Unlock()
	c.post.mails = append(c.post.mails, string(text))
	return err
}

func (c *counter) Reset()        {}
func (c *counter) Logout() error { return nil }

func (p *post) mailer(t *testing.T, scheme string, trusting bool) *Mailer {
	t.Helper()
	mailer, err := NewMailer(scheme+"://callgate%40example.com:p%40ss%2Fword%3A%C3%A9@"+p.address, "no-reply@callgate.test")
	if err != nil {
		t.Fatal(err)
	}
	if trusting {
		if err := mailer.client.SetTLSConfig(&tls.Config{RootCAs: p.trusted, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}); err != nil {
			t.Fatal(err)
		}
	}
	return mailer
}

var someLetter = letter{request: context.Background(), audience: Developer, to: developer, code: "314159"}

func TestCodesAreMailedOverTLSWithAPassword(t *testing.T) {
	for scheme, how := range map[string]protection{"smtps": fromTheStart, "smtp+starttls": byCommand, "smtp": byCommand} {
		p := startPost(t, how)
		if err := p.mailer(t, scheme, true).send(t.Context(), someLetter); err != nil {
			t.Errorf("%s: %v", scheme, err)
			continue
		}
		if _, mails := p.all(); len(mails) != 1 || !strings.Contains(mails[0], someLetter.code) {
			t.Errorf("%s: the post has %q", scheme, mails)
		}
	}
}

func TestMailServerThatProvesNothingHearsNeitherPasswordNorCode(t *testing.T) {
	for scheme, how := range map[string]protection{"smtps": fromTheStart, "smtp+starttls": byCommand, "smtp": byCommand} {
		p := startPost(t, how)
		err := p.mailer(t, scheme, false).send(t.Context(), someLetter)
		var unknown x509.UnknownAuthorityError
		if !errors.As(err, &unknown) && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", scheme, err)
		}
		if heard, _ := p.all(); len(heard) != 0 {
			t.Errorf("%s: the post heard %q", scheme, heard)
		}
	}
}

func TestEncryptionThatIsDemandedIsNotGoneWithout(t *testing.T) {
	for _, scheme := range []string{"smtps", "smtp+starttls"} {
		p := startPost(t, none)
		if err := p.mailer(t, scheme, true).send(t.Context(), someLetter); err == nil || strings.Contains(err.Error(), mailPassword) {
			t.Errorf("%s: %v", scheme, err)
		}
		if heard, _ := p.all(); len(heard) != 0 {
			t.Errorf("%s: the post heard %q", scheme, heard)
		}
	}
}
