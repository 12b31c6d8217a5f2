//go:build !linux

package embedded

import (
	"os"
	"os/exec"
	"syscall"
)

func selfExecutable() (string, error) { return os.Executable() }

// childAttributes put a child into its own process group. There is no parent-death signal here:
// ClickHouse ends by its standard input, PostgreSQL is stopped by the next start.
func childAttributes(_ syscall.Signal, runAs *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: runAs}
}

// commandLine is the command line of a live process, or empty.
func commandLine(pid string) string {
	raw, err := exec.Command("ps", "-o", "command=", "-p", pid).Output()
	if err != nil {
		return ""
	}
	return string(raw)
}

// throwAway is where engines live that are removed after the tests.
func throwAway() string { return os.TempDir() }
