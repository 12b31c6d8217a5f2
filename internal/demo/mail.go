package demo

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	keptMails   = 1000
	largestMail = 1 << 20 // bytes
)

// Mail is one caught message.
type Mail struct {
	To      string // the envelope's recipient, lower case
	Subject string
	Text    string    // the plain-text part, decoded
	Code    string    // the first group of exactly six digits in Text, or empty
	SentAt  time.Time // when it arrived here
}

// Mailbox is an SMTP server on loopback that delivers nothing and keeps the last 1,000 mails.
type Mailbox struct {
	listener net.Listener
	server   *smtp.Server
	done     chan struct{}

	mu    sync.Mutex
	mails []Mail // oldest first
}

// StartMailbox listens on a loopback address such as "127.0.0.1:0".
func StartMailbox(listen string) (*Mailbox, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("start mail catcher: %w", err)
	}
	box := &Mailbox{listener: listener, done: make(chan struct{})}
	box.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &delivery{box: box}, nil
	}))
	box.server.Domain = "localhost"
	box.server.MaxMessageBytes = largestMail
	box.server.ReadTimeout = time.Minute
	box.server.WriteTimeout = time.Minute
	go func() {
		defer close(box.done)
		_ = box.server.Serve(listener) // it ends by Close only
	}()
	return box, nil
}

// URL is the address for SMTP_URL, without encryption or sign-in.
func (b *Mailbox) URL() string { return "smtp://" + b.listener.Addr().String() }

// Mails returns what was sent to one address, or to anybody if it is empty, newest first.
func (b *Mailbox) Mails(to string) []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := []Mail{}
	for _, m := range slices.Backward(b.mails) {
		if to == "" || strings.EqualFold(m.To, to) {
			found = append(found, m)
		}
	}
	return found
}

// Close stops the server.
func (b *Mailbox) Close() error {
	err := b.server.Close()
	// Serve may not have taken the listener yet, then the server does not know it.
	if closed := b.listener.Close(); err == nil && !errors.Is(closed, net.ErrClosed) {
		err = closed
	}
	<-b.done
	if errors.Is(err, smtp.ErrServerClosed) {
		return nil
	}
	return err
}

func (b *Mailbox) keep(mails []Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = append(b.mails, mails...)
	b.mails = slices.Clone(b.mails[max(0, len(b.mails)-keptMails):])
}

// delivery is one SMTP session.
type delivery struct {
	box        *Mailbox
	recipients []string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error { return nil }

func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	d.recipients = append(d.recipients, strings.ToLower(to))
	return nil
}

func (d *delivery) Data(r io.Reader) error {
	message, err := mail.ReadMessage(r)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "not a mail: " + err.Error()}
	}
	text, err := plainText(message.Header.Get("Content-Type"), message.Header.Get("Content-Transfer-Encoding"), message.Body)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "unreadable mail: " + err.Error()}
	}
	subject := message.Header.Get("Subject")
	if decoded, err := new(mime.WordDecoder).DecodeHeader(subject); err == nil {
		subject = decoded
	}
	caught := make([]Mail, 0, len(d.recipients))
	for _, to := range d.recipients {
		caught = append(caught, Mail{To: to, Subject: subject, Text: text, Code: firstCode(text), SentAt: time.Now()})
	}
	d.box.keep(caught)
	return nil
}

func (d *delivery) Reset() { d.recipients = nil }

func (d *delivery) Logout() error { return nil }

var sixDigits = regexp.MustCompile(`(?:^|[^0-9])([0-9]{6})(?:[^0-9]|$)`)

func firstCode(text string) string {
	if found := sixDigits.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// plainText returns the text of a message, of a multipart one its first text/plain part.
func plainText(contentType, encoding string, body io.Reader) (string, error) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") {
		return firstTextPart(multipart.NewReader(body, parameters["boundary"]))
	}
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return "", fmt.Errorf("read mail: %w", err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), nil
}

func firstTextPart(parts *multipart.Reader) (string, error) {
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read mail: %w", err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if kind == "" || kind == "text/plain" || strings.HasPrefix(kind, "multipart/") {
			return plainText(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part)
		}
	}
}
