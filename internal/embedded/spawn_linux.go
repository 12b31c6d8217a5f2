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

// inMemory is the file system in memory that Linux has, and enoughMemory what must be free there for the engines of tests, in bytes.
const (
	inMemory     = "/dev/shm"
	enoughMemory = 8 << 30
)

// throwAway is where engines live that are removed after the tests: in memory where there is much, else in the directory for
// temporary files, or in TMPDIR if that is set. On ext4 a new file's inode is looked for past all that were deleted lately, and tests
// delete thousands: a fifth of their CPU.
func throwAway() string {
	var memory syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(inMemory, &memory) != nil || float64(memory.Bavail)*float64(memory.Bsize) < enoughMemory {
		return os.TempDir()
	}
	return inMemory
}
