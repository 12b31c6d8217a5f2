package identity

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	gomail "github.com/wneessen/go-mail"
)

const sendTimeout = 20 * time.Second // of one delivery, connecting included

// Mailer sends login codes over SMTP.
type Mailer struct {
	client   *gomail.Client
	from     *mail.Address
	attempts *prometheus.CounterVec
}

// NewMailer reads SMTP_URL and MAIL_FROM (an address, or "Name <address>"). The scheme says how the
// connection is protected: smtps:// TLS from the start (port 465), smtp+starttls:// STARTTLS or
// nothing (587), smtp:// STARTTLS where the server offers it (25; a password is then not sent in
// the clear, except to this machine). Errors never show the password.
func NewMailer(smtpURL, from string) (*Mailer, error) {
	sender, badFrom := mail.ParseAddress(from)
	if badFrom != nil {
		badFrom = errors.New("MAIL_FROM is not a mail address")
	}
	client, badURL := newSMTPClient(smtpURL)
	if err := errors.Join(badURL, badFrom); err != nil {
		return nil, err
	}
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_mail_attempts_total", Help: "Attempts to hand a mail to the mail server, by what it is for and what became of them.",
	}, []string{"kind", "result"})
	for _, kind := range []string{kindCode, kindNotice, kindAlert} { // so that the first failure is a step
		for _, result := range []string{"sent", "failed", "refused"} {
			attempts.WithLabelValues(kind, result)
		}
	}
	return &Mailer{client: client, from: sender, attempts: attempts}, nil
}

// What mails are for, in the metrics.
const (
	kindCode   = "code"
	kindNotice = "notice"
	kindAlert  = "alert"
)

// Metrics counts the attempts of this mailer; no label tells of an address.
func (m *Mailer) Metrics() prometheus.Collector { return m.attempts }

var protections = map[string][]gomail.Option{
	"smtp":          {gomail.WithPort(25), gomail.WithTLSPolicy(gomail.TLSOpportunistic)},
	"smtp+starttls": {gomail.WithPort(587), gomail.WithTLSPolicy(gomail.TLSMandatory)},
	"smtps":         {gomail.WithPort(465), gomail.WithSSL()},
}

func newSMTPClient(smtpURL string) (*gomail.Client, error) {
	form := errors.New("SMTP_URL is not smtp://, smtp+starttls:// or smtps:// with [user:password@]host[:port]")
	u, err := url.Parse(smtpURL)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, form // the parser's own error quotes the URL
	}
	protection, known := protections[u.Scheme]
	if !known {
		return nil, form
	}
	options := append([]gomail.Option{gomail.WithTimeout(sendTimeout)}, protection...)
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil || port < 1 || port > 65535 {
			return nil, form
		}
		options = append(options, gomail.WithPort(port))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	client, err := gomail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	return client, nil
}

// send delivers one letter. A silent one is written and goes nowhere: the queue keeps what follows from
// those who ask, and strangers cannot make us call the mail server for addresses of their choice.
func (m *Mailer) send(ctx context.Context, l letter) error {
	message, err := m.compose(l)
	if err != nil {
		return fmt.Errorf("compose mail: %w", err)
	}
	if l.silent {
		return nil
	}
	if l.notice != nil {
		return m.transmit(ctx, message, kindNotice)
	}
	return m.transmit(ctx, message, kindCode)
}

// Send delivers an alert's mail of plain text, once; the queue of codes is not behind it.
func (m *Mailer) Send(ctx context.Context, to, subject, text string) error {
	message, err := m.address(to, subject, text)
	if err != nil {
		return fmt.Errorf("compose mail: %w", err)
	}
	return m.transmit(ctx, message, kindAlert)
}

func (m *Mailer) transmit(ctx context.Context, message *gomail.Msg, kind string) error {
	err := m.handOver(ctx, message)
	result := "sent"
	switch {
	case permanent(err):
		result = "refused"
	case err != nil:
		result = "failed"
	}
	m.attempts.WithLabelValues(kind, result).Inc()
	return err
}

func (m *Mailer) handOver(ctx context.Context, message *gomail.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	connection, err := m.client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reach mail server: %w", err)
	}
	defer func() { _ = m.client.CloseWithSMTPClient(connection) }() // a mail that was taken is not sent again for it
	if err := m.client.SendWithSMTPClient(connection, message); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

// The subject has no code: subjects show on locked screens.
const (
	subjectLine = "Callgate 登录验证码 / Your Callgate sign-in code"
	bodyText    = `您正在登录 Callgate %s。验证码：

    %s

%d 分钟内有效，只能使用一次。请勿告诉任何人。如果不是您本人操作，请忽略本邮件。

You are signing in to the Callgate %s with the code above. It is valid for %d minutes
and can be used once. Do not share it with anybody. If this was not you, ignore this mail.
`
)

func (m *Mailer) compose(l letter) (*gomail.Msg, error) {
	if l.notice != nil {
		return m.address(l.to, l.notice.subject, l.notice.text)
	}
	placeZH, placeEN := "控制台", "console"
	if l.audience == Admin {
		placeZH, placeEN = "管理后台", "back office"
	}
	minutes := int(codeTTL.Minutes())
	return m.address(l.to, subjectLine, fmt.Sprintf(bodyText, placeZH, l.code, minutes, placeEN, minutes))
}

func (m *Mailer) address(to, subject, text string) (*gomail.Msg, error) {
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	message.FromMailAddress(m.from)
	if err := message.To(to); err != nil {
		return nil, err
	}
	message.Subject(subject)
	message.SetDate()
	domain := m.from.Address[strings.LastIndexByte(m.from.Address, '@')+1:]
	message.SetMessageIDWithValue(uuid.NewString() + "@" + domain)
	message.SetGenHeader("Auto-Submitted", "auto-generated") // asks out-of-office robots to stay quiet
	message.SetBodyString(gomail.TypeTextPlain, text)
	return message, nil
}

// permanent tells a refusal that would be repeated from trouble that may pass.
func permanent(err error) bool {
	var refused *gomail.SendError
	return errors.As(err, &refused) && refused.ErrorCode() >= 500
}
