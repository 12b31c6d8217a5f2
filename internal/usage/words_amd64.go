package usage

import "golang.org/x/sys/cpu"

// searchesAtOnce tells whether the processor has what the searches below need.
var searchesAtOnce = cpu.X86.HasAVX2

// indexPairs is where p first has one of some pairs of bytes, -1 for nowhere. p has pairsAtLeast bytes or more, and the last seven
// are no beginning of a pair.
//
//go:noescape
func indexPairs(p []byte, of *pairs) int

// lastBreakIn is behindLastBreak for breakAtLeast bytes or more.
//
//go:noescape
func lastBreakIn(p []byte) int
