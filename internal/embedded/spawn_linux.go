package embedded

import (
	"os"
	"syscall"
)

// selfExecutable names the running binary even when its file was replaced or deleted meanwhile.
func selfExecutable() (string, error) { return "/proc/self/exe", nil }

// childAttributes put a child into its own process group (a Ctrl-C on the terminal is ours to
// handle, in order) and have the kernel send it lastSignal when our thread that started it ends.
func childAttributes(lastSignal syscall.Signal, runAs *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: lastSignal, Credential: runAs}
}

// commandLine is the command line of a live process, or empty.
func commandLine(pid string) string {
	raw, err := os.ReadFile("/proc/" + pid + "/cmdline")
	if err != nil {
		return ""
	}
	return string(raw)
}
