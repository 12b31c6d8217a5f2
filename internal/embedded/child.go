package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	readyTimeout  = 30 * time.Second // a cold page cache under load; usually well below 2 s
	stopTimeout   = 10 * time.Second
	firstBackoff  = 50 * time.Millisecond
	longestPause  = 5 * time.Second
	settledAfter  = 30 * time.Second // a child that lived this long starts with no backoff again
	startAttempts = 3
)

// engine is what the supervisor has to know about one kind of child.
type engine struct {
	name string
	log  string // file that takes what the child prints
	// command builds a fresh command; a second one after a failed first start has a new port.
	command func() (*exec.Cmd, error)
	// repick chooses another port, after a first start failed (somebody took ours).
	repick func() error
	// ready succeeds once the child answers a query with our credentials.
	ready func(context.Context) error
	// interrupt asks the child to end in order.
	interrupt func(pid int, stdin io.Closer) error
}

// child supervises one engine: whenever it dies it is started again on the same port.
type child struct {
	engine
	logger  *slog.Logger
	spawner *spawner
	changed func() // called after every start, when the pid is new

	mu      sync.Mutex
	process *process
	held    chan struct{} // not nil while restarts are held back; closed by release
	closing chan struct{}
	done    chan struct{}
}

// process is one life of a child.
type process struct {
	pid    int
	stdin  io.Closer
	born   time.Time
	exited chan struct{}
	err    error // why it ended; read after exited is closed
}

// startChild starts the engine, waits until it is ready and supervises it from then on.
func startChild(ctx context.Context, e engine, s *spawner, logger *slog.Logger, changed func()) (*child, error) {
	c := &child{engine: e, logger: logger, spawner: s, changed: changed, closing: make(chan struct{}), done: make(chan struct{})}
	var err error
	for attempt := range startAttempts {
		if attempt > 0 {
			if err := e.repick(); err != nil {
				return nil, err
			}
		}
		if err = c.launch(ctx); err == nil {
			go c.supervise()
			return c, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("start embedded %s: %w: %s", e.name, err, tail(e.log))
}

// launch starts one process and waits until it is ready; on failure nothing is left running.
func (c *child) launch(ctx context.Context) error {
	p, err := c.spawn()
	if err != nil {
		return err
	}
	if err := c.awaitReady(ctx, p); err != nil {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
		<-p.exited
		return err
	}
	return nil
}

func (c *child) spawn() (*process, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", c.name, err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to %s: %w", c.name, err)
	}
	if err := c.spawner.start(cmd); err != nil {
		return nil, fmt.Errorf("run %s: %w", c.name, err)
	}
	p := &process{pid: cmd.Process.Pid, stdin: stdin, born: time.Now(), exited: make(chan struct{})}
	c.mu.Lock()
	c.process = p
	c.mu.Unlock()
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (c *child) awaitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	go func() {
		select {
		case <-p.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := poll(ctx, func() error { return c.ready(ctx) })
	select {
	case <-p.exited:
		return fmt.Errorf("it ended before it was ready (%w)", orNil(p.err))
	default:
	}
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	return nil
}

// errEnded stands for an exit that reported no error.
var errEnded = errors.New("exit status 0")

func orNil(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// supervise starts the engine again whenever it ends, until close.
func (c *child) supervise() {
	defer close(c.done)
	pause := firstBackoff
	for {
		p := c.current()
		select {
		case <-p.exited:
		case <-c.closing:
			return
		}
		if time.Since(p.born) > settledAfter {
			pause = firstBackoff
		}
		c.logger.Warn("embedded engine ended, starting it again", "engine", c.name, "pid", p.pid, "cause", orNil(p.err), "pause", pause, "log", c.log)
		if !c.waitBeforeRestart(pause) {
			return
		}
		pause = min(2*pause, longestPause)
		if err := c.relaunch(); err != nil {
			c.logger.Warn("embedded engine did not start", "engine", c.name, "error", err)
			continue
		}
		c.changed()
	}
}

// relaunch is launch that gives up as soon as the child is being closed.
func (c *child) relaunch() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-c.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return c.launch(ctx)
}

// waitBeforeRestart reports false when the child is being closed.
func (c *child) waitBeforeRestart(pause time.Duration) bool {
	c.mu.Lock()
	held := c.held
	c.mu.Unlock()
	if held != nil {
		select {
		case <-held:
			return true
		case <-c.closing:
			return false
		}
	}
	select {
	case <-time.After(pause):
		return true
	case <-c.closing:
		return false
	}
}

func (c *child) current() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func (c *child) pid() int { return c.current().pid }

// down kills the process with SIGKILL and keeps it down; up starts it again and returns when it answers.
func (c *child) down() (up func(context.Context) error, err error) {
	c.mu.Lock()
	if c.held != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("%s is already held down", c.name)
	}
	held := make(chan struct{})
	c.held = held
	p := c.process
	c.mu.Unlock()
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) { // it may have ended by itself
		c.mu.Lock()
		c.held = nil
		c.mu.Unlock()
		close(held)
		return nil, fmt.Errorf("kill %s: %w", c.name, err)
	}
	<-p.exited
	return func(ctx context.Context) error { return c.up(ctx, p, held) }, nil
}

func (c *child) up(ctx context.Context, dead *process, held chan struct{}) error {
	c.mu.Lock()
	if c.held == held {
		c.held = nil
		close(held)
	}
	c.mu.Unlock()
	err := poll(ctx, func() error {
		if c.current() == dead {
			return errors.New("not started yet")
		}
		return c.ready(ctx)
	})
	if err != nil {
		return fmt.Errorf("bring %s back: %w", c.name, err)
	}
	return nil
}

// close ends the child in order, by force after stopTimeout.
func (c *child) close() error {
	close(c.closing)
	<-c.done
	p := c.current()
	select {
	case <-p.exited:
		return nil
	default:
	}
	err := c.interrupt(p.pid, p.stdin)
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		c.logger.Warn("embedded engine did not end in time, killing it", "engine", c.name, "pid", p.pid)
		err = errors.Join(err, syscall.Kill(p.pid, syscall.SIGKILL))
		<-p.exited
	}
	return err
}
