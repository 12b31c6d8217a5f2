package embedded

import (
	"errors"
	"fmt"
	"os"
)

// roleVariable turns a new process of the running binary, callgate or a test, into a helper of
// this package. Only this package sets it.
const (
	roleVariable   = "CALLGATE_EMBEDDED_ROLE"
	roleClickHouse = "clickhouse"
	roleHost       = "host"
)

func init() {
	role := os.Getenv(roleVariable)
	if role == "" {
		return
	}
	_ = os.Unsetenv(roleVariable) // our own children are not helpers
	if err := play(role, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(role string, arguments []string) error {
	switch {
	case role == roleClickHouse && len(arguments) == 2:
		return serveClickHouse(arguments[0], arguments[1], nil)
	case role == roleHost && len(arguments) == 1:
		return host(arguments[0])
	}
	return errors.New(roleVariable + " is set by callgate for its own children; unset it")
}
