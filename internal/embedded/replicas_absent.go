//go:build !replicas

package embedded

import "context"

// replica is what makes an engine one of several replicas: with the build tag replicas only (replicas.go).
type replica struct{}

func (*replica) config(*ports) string     { return "" }
func (*replica) environment(int) []string { return nil }

func (*clickHouse) readyNatively(context.Context) error { return nil }
func (*Engines) placeReplicas([][]string)               {}
func (*Engines) startKeeper(context.Context) error      { return nil }
func replicate() error                                  { return nil }
