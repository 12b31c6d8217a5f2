package usage

import "golang.org/x/sys/cpu"

// searchesAtOnce tells whether the processor has what indexPairs needs.
var searchesAtOnce = cpu.X86.HasAVX2

// indexPairs is where p first has a byte and, two behind it, another that are those of a pair: u and a, but with no n seven behind
// the u, a backslash and 0, or the pair that is given; -1 for nowhere. p has pairsAtLeast bytes or more, and the last seven are
// no beginning of a pair.
//
//go:noescape
func indexPairs(p []byte, first, third byte) int
