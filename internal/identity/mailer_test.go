package identity

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"callgate/internal/demo"
)

// at points the queue of a service at a mail server.
func (w *world) at(smtpURL string) {
	w.t.Helper()
	mailer, err := NewMailer(smtpURL, "no-reply@callgate.test")
	if err != nil {
		w.t.Fatal(err)
	}
	w.outbox.mailer = mailer
}

func TestMailHoldsTheCodeInBothLanguagesAndNotInItsSubject(t *testing.T) {
	for audience, places := range map[Audience][]string{
		Developer: {"控制台", "Callgate console"}, Admin: {"管理后台", "Callgate back office"},
	} {
		w := newWorld(t)
		code := w.code(audience, admin)
		mail := w.mails.Mails(admin)[0]
		if mail.To != admin || code == "" || strings.Contains(mail.Subject, code) || !strings.Contains(mail.Subject, "登录验证码") {
			t.Fatalf("mail to %q, subject %q", mail.To, mail.Subject)
		}
		for _, part := range append(places, code, "5 分钟内有效", "valid for 5 minutes") {
			if !strings.Contains(mail.Text, part) {
				t.Errorf("%q is missing in:\n%s", part, mail.Text)
			}
		}
	}
}

func TestTheOtherAdministratorsAreTold(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminEmails = []string{admin, "Second@Example.com", "third@example.com"} })
	w.TellAdministrators(t.Context(), admin, "A subject", "A text.")
	w.settle()
	for _, to := range []string{"second@example.com", "third@example.com"} {
		if mails := w.mails.Mails(to); len(mails) != 1 || mails[0].Subject != "A subject" || !strings.Contains(mails[0].Text, "A text.") {
			t.Errorf("%s: %+v", to, mails)
		}
	}
	if mails := w.mails.Mails(admin); len(mails) != 0 {
		t.Errorf("who did it: %+v", mails)
	}
}

func TestMailIsTriedAgainUntilTheServerIsBack(t *testing.T) {
	w := newWorld(t)
	address := strings.TrimPrefix(w.mails.URL(), "smtp://")
	if err := w.mails.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.SendCode(t.Context(), Developer, developer, Program(home)); err != nil {
		t.Fatalf("the caller is told of the mail server: %v", err)
	}
	box, err := demo.StartMailbox(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	w.mails = box
	if _, err := w.logIn(Developer, developer, w.awaitMail(developer, 1).Code); err != nil {
		t.Fatal(err)
	}
}

func TestSilentMailServerKeepsNobodyWaiting(t *testing.T) {
	w := newWorld(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never says a word
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	w.at("smtp://" + silent.Addr().String())
	start := time.Now()
	if err := w.SendCode(t.Context(), Developer, developer, Program(home)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w.Close(ctx)
	if took := time.Since(start); took > sendTimeout/2 {
		t.Fatalf("took %v", took)
	}
}

// refuser takes no recipient and counts who tried.
type refuser struct{ tries *atomic.Int64 }

func (r refuser) Mail(string, *smtp.MailOptions) error { return nil }
func (r refuser) Rcpt(string, *smtp.RcptOptions) error {
	r.tries.Add(1)
	return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
}
func (r refuser) Data(io.Reader) error { return nil }
func (r refuser) Reset()               {}
func (r refuser) Logout() error        { return nil }

func TestRefusalForGoodIsNotTriedAgain(t *testing.T) {
	w := newWorld(t)
	var tries atomic.Int64
	w.at(startSMTP(t, func(*smtp.Conn) (smtp.Session, error) { return refuser{&tries}, nil }))
	if err := w.SendCode(t.Context(), Developer, developer, Program(home)); err != nil {
		t.Fatal(err)
	}
	w.settle() // would retry for minutes
	if n := tries.Load(); n != 1 {
		t.Fatalf("tried %d times", n)
	}
}

func TestAttemptsAreCountedByWhatTheyAreForAndWhatBecameOfThem(t *testing.T) {
	const away = "smtp://127.0.0.1:1"
	var tries atomic.Int64
	refusing := startSMTP(t, func(*smtp.Conn) (smtp.Session, error) { return refuser{&tries}, nil })
	taking := startSMTP(t, func(*smtp.Conn) (smtp.Session, error) { return quiet{}, nil })
	for _, c := range []struct {
		server, kind, result string
		send                 func(*Mailer) error
	}{
		{taking, "code", "sent", func(m *Mailer) error { return m.send(t.Context(), letter{to: developer, code: "123456"}) }},
		{away, "code", "failed", func(m *Mailer) error { return m.send(t.Context(), letter{to: developer, code: "123456"}) }},
		{refusing, "code", "refused", func(m *Mailer) error { return m.send(t.Context(), letter{to: developer, code: "123456"}) }},
		{taking, "notice", "sent", func(m *Mailer) error {
			return m.send(t.Context(), letter{to: developer, notice: &notice{"Moved", "It moved."}})
		}},
		{away, "alert", "failed", func(m *Mailer) error { return m.Send(t.Context(), developer, "Fired", "It fired.") }},
		{away, "", "", func(m *Mailer) error { return m.send(t.Context(), letter{to: "stranger@example.com", silent: true}) }},
	} {
		m, err := NewMailer(c.server, "no-reply@callgate.test")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.send(m); (err == nil) != (c.result == "sent" || c.result == "") {
			t.Errorf("%s %s: %v", c.kind, c.result, err)
		}
		for _, kind := range []string{"code", "notice", "alert"} {
			for _, result := range []string{"sent", "failed", "refused"} {
				want := 0.0
				if kind == c.kind && result == c.result {
					want = 1
				}
				if n := testutil.ToFloat64(m.attempts.WithLabelValues(kind, result)); n != want {
					t.Errorf("%s %s: %v attempts are %s %s", c.kind, c.result, n, kind, result)
				}
			}
		}
	}
}

func TestNobodyElsesMailServerHearsOfAddressesThatMayNotSignIn(t *testing.T) {
	w := newWorld(t)
	var sessions atomic.Int64
	w.at(startSMTP(t, func(*smtp.Conn) (smtp.Session, error) { sessions.Add(1); return quiet{}, nil }))
	for _, email := range []string{"stranger@example.com", "other@example.com", admin} {
		if err := w.SendCode(t.Context(), Admin, email, Program(home)); err != nil {
			t.Fatal(err)
		}
	}
	w.settle()
	if n := sessions.Load(); n != 1 {
		t.Fatalf("%d conversations with the mail server for one mail", n)
	}
}

func TestCloseSendsWhatIsQueuedAndNothingIsTakenAfterwards(t *testing.T) {
	w := newWorld(t)
	const letters = 40
	for range letters {
		if !w.outbox.offer(letter{request: t.Context(), audience: Developer, to: developer, code: "123456"}) {
			t.Fatal("refused")
		}
	}
	w.settle()
	if mails := w.mails.Mails(developer); len(mails) != letters {
		t.Fatalf("%d of %d mails sent", len(mails), letters)
	}
	if w.outbox.offer(letter{request: t.Context(), audience: Developer, to: developer, code: "123456"}) {
		t.Fatal("taken after close")
	}
}

func TestMailAddressesOfEveryProtectionAreRead(t *testing.T) {
	for url, want := range map[string]string{
		"smtp://mail.example.com":                     "mail.example.com:25",
		"smtp+starttls://u:p@mail.example.com":        "mail.example.com:587",
		"smtps://u%40x:p%2Fq@mail.example.com":        "mail.example.com:465",
		"smtps://mail.example.com:2465/":              "mail.example.com:2465",
		"smtp+starttls://user:pass@[2001:db8::1]:587": "2001:db8::1:587",
	} {
		mailer, err := NewMailer(url, "Callgate <a@b.c>")
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := strings.NewReplacer("[", "", "]", "").Replace(mailer.client.ServerAddr()); got != want {
			t.Errorf("%s leads to %s, want %s", url, got, want)
		}
	}
}

func TestFaultyMailConfigurationIsRefusedWithoutShowingThePassword(t *testing.T) {
	for _, url := range []string{
		"", "mail.example.com:25", "http://u:hunter2@mail.example.com", "smtp://u:hunter2@", "smtp://u:hunter2@host:port",
		"smtp://u:hunter2@host:70000", "smtp://u:hunter2@host/path", "smtp://u:hunter2@host?x=y", "smtp://u:hunter2%zz@host",
	} {
		_, err := NewMailer(url, "not an address")
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "MAIL_FROM") || !strings.Contains(err.Error(), "SMTP_URL") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
