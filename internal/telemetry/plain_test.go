package telemetry

import (
	"bytes"
	"errors"
	"testing"
)

func TestPeopleAreToldInSentences(t *testing.T) {
	var lines bytes.Buffer
	logger := NewPlainLogger(&lines, "info").With("store", "postgres").WithGroup("pool")
	logger.Debug("not told")
	logger.Info("it is there", "connections", 4)
	logger.Warn("it is away", "error", errors.New("refused"))
	NewPlainLogger(&lines, "").Info("stores are ready")
	const want = "it is there (store postgres, pool.connections 4)\nwarn: it is away (store postgres, pool.error refused)\nstores are ready\n"
	if lines.String() != want {
		t.Errorf("%q, want %q", lines.String(), want)
	}
}
