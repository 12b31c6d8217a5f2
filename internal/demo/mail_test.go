package demo_test

import (
	"fmt"
	"net/smtp"
	"strings"
	"testing"

	"callgate/internal/demo"
	"callgate/internal/embedded"
)

func send(t *testing.T, box *demo.Mailbox, to, mail string) {
	t.Helper()
	at := strings.TrimPrefix(box.URL(), "smtp://")
	if err := smtp.SendMail(at, nil, "callgate@example.com", []string{to}, []byte(strings.ReplaceAll(mail, "\n", "\r\n"))); err != nil {
		t.Fatal(err)
	}
}

func TestMailsAreKeptNewestFirstWithTheirCode(t *testing.T) {
	box := embedded.Mails(t)
	send(t, box, "a@example.com", "Subject: One\n\nYour code is 123456.\n")
	send(t, box, "b@example.com", "Subject: =?utf-8?q?Zwei?=\nContent-Transfer-Encoding: quoted-printable\n\nNumber 1234567=20then 654321\n")
	send(t, box, "A@example.com", "Subject: Three\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n"+
		"--x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nQ29kZTogMDA3MDA3Cg==\n--x\nContent-Type: text/html\n\n<b>999999</b>\n--x--\n")

	mine := box.Mails("a@example.com")
	if len(mine) != 2 || mine[0].Subject != "Three" || mine[0].Code != "007007" || mine[1].Code != "123456" || mine[1].Text != "Your code is 123456.\n" {
		t.Errorf("mails to a: %+v", mine)
	}
	other := box.Mails("B@example.com")
	if len(other) != 1 || other[0].Subject != "Zwei" || other[0].Code != "654321" {
		t.Errorf("mails to b: %+v", other)
	}
	if all := box.Mails(""); len(all) != 3 || all[0].SentAt.Before(all[2].SentAt) {
		t.Errorf("all mails: %+v", all)
	}
}

func TestOnlyTheLastThousandMailsAreKept(t *testing.T) {
	box := embedded.Mails(t)
	at := strings.TrimPrefix(box.URL(), "smtp://")
	client, err := smtp.Dial(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for i := range 1001 {
		if err := client.Mail("callgate@example.com"); err != nil {
			t.Fatal(err)
		}
		if err := client.Rcpt("a@example.com"); err != nil {
			t.Fatal(err)
		}
		body, err := client.Data()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(body, "Subject: %d\r\n\r\n", i)
		if err := body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	kept := box.Mails("a@example.com")
	if len(kept) != 1000 || kept[0].Subject != "1000" || kept[999].Subject != "1" {
		t.Errorf("%d mails kept", len(kept))
	}
}
