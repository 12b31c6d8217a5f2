package progress

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

func TestATerminalShowsABarThatIsTakenAway(t *testing.T) {
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&shown, screen) }) // ends with an error when the terminal is closed
	m := To(terminal).Begin("accounts compared", 40)
	for range 40 {
		m.Add(1)
	}
	m.End()
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	_ = screen.Close()
	text := shown.String()
	if !strings.Contains(text, "accounts compared") || !strings.Contains(text, "/40") || strings.Contains(text, "\n") {
		t.Errorf("shown: %q", text)
	}
}

func TestElsewhereALineNowAndThenSaysHowLongItTakes(t *testing.T) {
	var lines bytes.Buffer
	m := Output{to: &lines, every: time.Millisecond}.Begin("values sealed", 3)
	for range 3 {
		m.said = time.Now().Add(-time.Second)
		m.began = time.Now().Add(-10 * time.Second)
		m.Add(1)
	}
	m.End()
	want := regexp.MustCompile(`^values sealed: 1 of 3, about 20s left\nvalues sealed: 2 of 3, about 5s left\n$`)
	if !want.Match(lines.Bytes()) {
		t.Errorf("%q", lines.String())
	}
}

func TestNobodyIsToldOfWorkThatIsShortOrUnwatched(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/lines")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, o := range []Output{{}, To(file)} {
		m := o.Begin("values sealed", 2)
		m.Add(2)
		m.End()
	}
	if info, err := file.Stat(); err != nil || info.Size() > 0 {
		t.Errorf("%v %v", info, err)
	}
}
