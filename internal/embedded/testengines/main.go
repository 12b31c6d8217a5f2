// Command testengines runs its arguments as a command whose test processes all share one set of
// engines, so that they are started once per run:
//
//	go run ./internal/embedded/testengines -- go test ./...
//
// It exits with the command's status. An interrupt is passed on, and the engines are stopped
// after the command has ended.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"callgate/internal/embedded"
)

// mercy is how long an interrupted command may take to end.
const mercy = 20 * time.Second

func main() {
	command := os.Args[1:]
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "usage: testengines -- command [argument...]")
		os.Exit(2)
	}
	err := run(command)
	var failed *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &failed) && failed.Exited():
		os.Exit(failed.ExitCode())
	default:
		fmt.Fprintln(os.Stderr, "testengines:", err)
		os.Exit(1)
	}
}

func run(command []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return embedded.RunWithEngines(ctx, logger, func(environment []string) error {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), environment...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = mercy
		return cmd.Run()
	})
}
