package embedded

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// endOfTransmission ends a terminal's input, as Ctrl-D does.
const endOfTransmission = 4

// standInput puts a terminal in the place of this process's standard input, which is then read to
// its end, when the terminal's input ends too. The engine believes itself a command-line tool: fed
// from anything but a terminal, it ends the whole process when one client's connection breaks, when
// a password is wrong, or when a stranger sends garbage. Before a terminal it lives on as a server does.
func standInput() error {
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("open a terminal for clickhouse: %w", err)
	}
	input, err := syscall.Dup(syscall.Stdin)
	if err != nil {
		return fmt.Errorf("keep standard input: %w", err)
	}
	syscall.CloseOnExec(input)
	if err := unix.Dup2(int(slave.Fd()), syscall.Stdin); err != nil {
		return fmt.Errorf("replace standard input: %w", err)
	}
	parent := os.NewFile(uintptr(input), "parent")
	go func() {
		_, _ = io.Copy(io.Discard, parent)
		_, _ = master.Write([]byte{endOfTransmission})
		_ = master.Close() // ends whatever asks for more
	}()
	return nil
}
