//go:build replicas

// Package replicapatch makes engines of internal/embedded replicas of each other, for tests alone: it writes into the code of
// libchdb, in the memory of an engine's process. A test of replicas imports it for that; where a real clickhouse-server is
// on the PATH, that is used and nothing is written.
//
// The embedded engine has all of replication but the port on which replicas fetch parts from each other, so that its
// Replicated tables are read-only. Changed, its HTTP port serves fetches, and queries go over the native port alone. ON
// CLUSTER and the Replicated database stay out of reach.
package replicapatch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"callgate/internal/embedded"
)

// library is the engine whose code is known here: libchdb 26.7.3-stable.1 for Linux on x86-64, by its SHA-256.
const library = "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5"

func init() { embedded.PatchReplicas(library, patch) }

// place is code of the engine that is overwritten: at an offset from where the library was loaded.
type place struct {
	what   string
	offset uintptr
	before []byte // what must be there
	after  []byte
}

// patch makes this process, which has loaded the engine and not started it, a replica from which others fetch on a port.
// It fails when the code is not what it must be.
func patch(port uint16) error {
	base, err := loadedAt("libchdb.so")
	if err != nil {
		return err
	}
	nobody, err := noCredentials()
	if err != nil {
		return err
	}
	for _, p := range []place{
		{
			what: "the address others fetch from", offset: 0x1417c9c0,
			before: []byte{0x41, 0x56, 0x53, 0x48, 0x83, 0xec, 0x48},
			after:  returnAddress("127.0.0.1", port),
		}, {
			what: "the protocol others fetch by", offset: 0x1417cac0,
			before: []byte{0x48, 0x8b, 0x06, 0x80, 0xb8},
			after:  append(storeString("http"), 0x48, 0x89, 0xf8, 0xc3), // mov rax, rdi; ret
		}, {
			what: "the credentials others fetch with", offset: 0x1417c940,
			before: []byte{0x41, 0x57, 0x41, 0x56, 0x53, 0x4c, 0x8b, 0x3f},
			after:  append(moveToRAX(uint64(nobody)), 0x31, 0xd2, 0xc3), // xor edx, edx; ret
		}, {
			what: "a flag that replication asks for", offset: 0x142891c0,
			before: []byte{0x0f, 0xb6, 0x87, 0x10, 0x09, 0x00, 0x00, 0xc3},
			after:  []byte{0xb8, 1, 0, 0, 0, 0xc3}, // mov eax, 1; ret
		}, {
			what: "what START LISTEN HTTP serves", offset: 0x18395d32,
			before: []byte{0x0f, 0x84, 0xc2, 0x02, 0, 0},
			after:  []byte{0x0f, 0x84, 0x84, 0, 0, 0}, // the jump to fetches instead of queries
		},
	} {
		if err := p.overwrite(base); err != nil {
			return err
		}
	}
	return nil
}

// loadedAt is where a library begins in this process's memory.
func loadedAt(library string) (uintptr, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, fmt.Errorf("find the engine in memory: %w", err)
	}
	defer func() { _ = maps.Close() }()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if start, _, ok := strings.Cut(lines.Text(), "-"); ok && strings.HasSuffix(lines.Text(), "/"+library) {
			at, err := strconv.ParseUint(start, 16, 64)
			return uintptr(at), err
		}
	}
	return 0, errors.New("the engine is not in memory")
}

func (p place) overwrite(base uintptr) error {
	at := base + p.offset
	code := unsafe.Slice((*byte)(pointer(at)), max(len(p.before), len(p.after)))
	if !bytes.Equal(code[:len(p.before)], p.before) {
		return fmt.Errorf("the engine's code for %s is another: %x", p.what, code[:len(p.before)])
	}
	pageSize := uintptr(os.Getpagesize())
	page := unsafe.Slice((*byte)(pointer(at&^(pageSize-1))), 2*pageSize) // the code may reach into the next one
	if err := syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
		return fmt.Errorf("change %s: %w", p.what, err)
	}
	copy(code, p.after)
	if err := syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		return fmt.Errorf("change %s: %w", p.what, err)
	}
	return nil
}

// pointer is an address outside of what Go manages.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// returnAddress is code that returns a host and a port in the place its caller has for them, at rdi.
func returnAddress(host string, port uint16) []byte {
	code := append(storeString(host), 0x66, 0xc7, 0x47, 0x18) // mov word [rdi+0x18], port
	code = binary.LittleEndian.AppendUint16(code, port)
	return append(code, 0x48, 0x89, 0xf8, 0xc3) // mov rax, rdi; ret
}

// storeString is code that makes [rdi] a string of libc++, of at most 22 bytes: they lie in the object itself, its
// last byte is their number.
func storeString(text string) (code []byte) {
	var object [24]byte
	copy(object[:23], text)
	object[23] = byte(len(text))
	for i := byte(0); i < 24; i += 8 {
		code = append(code, moveToRAX(binary.LittleEndian.Uint64(object[i:]))...)
		code = append(code, 0x48, 0x89, 0x47, i) // mov [rdi+i], rax
	}
	return code
}

func moveToRAX(value uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, value)
}

// noCredentials is an object of credentials that holds a single pair, an empty name and an empty password. The
// engine keeps it as long as the process lives, outside of what Go moves or frees.
func noCredentials() (uintptr, error) {
	const list, first, second = 48, 128, 176 // where in it the list is, and its one pair begins and ends
	memory, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 0, fmt.Errorf("memory for the engine: %w", err)
	}
	at := uintptr(unsafe.Pointer(&memory[0]))
	for i, to := range []uintptr{first, second, second} {
		binary.LittleEndian.PutUint64(memory[list+8*i:], uint64(at+to))
	}
	return at, nil
}
