package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// engineNames are the ClickHouse engines, by shard.
func (b *bench) engineNames() []string {
	names := []string{"clickhouse"}
	for i := 2; i <= b.shards; i++ {
		names = append(names, fmt.Sprint("clickhouse", i))
	}
	return names
}

// spent is what was used up until now.
type spent struct {
	cpu    time.Duration   // of ClickHouse and the console
	shards []time.Duration // of each engine
	work
}

func (c *console) spent(ctx context.Context, l *ledger) (s spent, err error) {
	if s.cpu, err = cpuOf(c.cmd.Process.Pid); err != nil {
		return s, err
	}
	pids := c.bench.engines.PIDs()
	for _, name := range c.bench.engineNames() {
		used, err := cpuOf(pids[name])
		if err != nil {
			return s, err
		}
		s.cpu, s.shards = s.cpu+used, append(s.shards, used)
	}
	s.work, err = l.work(ctx)
	return s, err
}

// cpuOf is the user and system time a process has used, to the kernel's tick of 10 ms.
func cpuOf(pid int) (total time.Duration, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name before may hold spaces
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, errors.New("/proc/<pid>/stat is not as expected")
	}
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ticks) * 10 * time.Millisecond
	}
	return total, nil
}
