package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is how much of it a process has resident, sampled.
type memory struct {
	n     *node
	first int64
	mu    sync.Mutex
	all   []int64
}

func (n *node) watchMemory() *memory {
	m := &memory{n: n}
	m.first = m.now()
	go func() {
		for tick := time.NewTicker(250 * time.Millisecond); ; <-tick.C {
			select {
			case <-n.ended:
				return
			default:
				m.now()
			}
		}
	}()
	return m
}

// now is the resident memory in bytes; 0 once the process has ended.
func (m *memory) now() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.n.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, _ := strconv.ParseInt(number, 10, 64)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, kib<<10)
	return kib << 10
}

func (m *memory) most() (most int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, bytes := range m.all {
		most = max(most, bytes)
	}
	return most
}

// spoolBytes is what the segments of a gateway take on disk.
func (n *node) spoolBytes(t *testing.T) (total int64) {
	t.Helper()
	err := walkFiles(n.spoolDir(), func(info os.FileInfo) { total += info.Size() })
	if err != nil {
		t.Fatal(err)
	}
	return total
}
