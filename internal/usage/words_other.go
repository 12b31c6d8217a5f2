//go:build !amd64

package usage

// searchesAtOnce tells that there is no indexPairs; the search for one byte of a word at a time does.
var searchesAtOnce = false

func indexPairs([]byte, byte, byte) int { panic("there is no such search on this processor") }
