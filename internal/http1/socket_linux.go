//go:build !race

package http1

import (
	"syscall"
	"unsafe"
)

// read and write are the system calls on a non-blocking socket, without what the scheduler does around those
// that may block.
func read(fd uintptr, p []byte) (int, error)  { return direct(syscall.SYS_READ, fd, p) }
func write(fd uintptr, p []byte) (int, error) { return direct(syscall.SYS_WRITE, fd, p) }

func direct(call, fd uintptr, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // the bytes of p
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
