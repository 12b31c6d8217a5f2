//go:build !amd64

package usage

// searchesAtOnce tells that there are none of these searches; those for one byte at a time do.
var searchesAtOnce = false

func indexPairs([]byte, *pairs) int { panic("there is no such search on this processor") }
func lastBreakIn([]byte) int        { panic("there is no such search on this processor") }
