//go:build !replicas

package embedded

import (
	"context"
	"os/exec"
)

// replica is what makes an engine one of several replicas: with the build tag replicas only (replicas.go).
type replica struct{}

func (*replica) config(*ports) string                             { return "" }
func (*replica) command(_, _ string, _ *ports) (*exec.Cmd, error) { return nil, nil }

func (*clickHouse) readyNatively(context.Context) error { return nil }
func (*Engines) placeReplicas([][]string)               {}
func (*Engines) startKeeper(context.Context) error      { return nil }
