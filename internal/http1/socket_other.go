//go:build !linux || race

package http1

import "syscall"

// The race detector learns from these in which order things happen.

func read(fd uintptr, p []byte) (int, error)  { return syscall.Read(int(fd), p) }
func write(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }
