package embedded

import (
	"errors"
	"os/exec"
	"runtime"
)

// spawner starts every child from one thread that lives until close: Linux sends the
// parent-death signal when the *thread* that forked ends, not the process.
type spawner struct {
	requests chan spawnRequest
	stop     chan struct{}
}

type spawnRequest struct {
	cmd    *exec.Cmd
	result chan error
}

var errSpawnerClosed = errors.New("the engines are closed")

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawnRequest), stop: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			select {
			case request := <-s.requests:
				request.result <- request.cmd.Start()
			case <-s.stop:
				return
			}
		}
	}()
	return s
}

// start runs cmd.Start on the lasting thread.
func (s *spawner) start(cmd *exec.Cmd) error {
	request := spawnRequest{cmd: cmd, result: make(chan error, 1)}
	select {
	case s.requests <- request:
		return <-request.result
	case <-s.stop:
		return errSpawnerClosed
	}
}

func (s *spawner) close() { close(s.stop) }
