package meter

import (
	"math/rand/v2"
	"testing"
)

// TestAReaderTellsNothingOfTheAnswerBefore has one Reader read what is whole, broken off and hostile, one after the other
// in any order, as calls share them.
func TestAReaderTellsNothingOfTheAnswerBefore(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	all := answers()
	read := func(r *Reader, a sample, cut int, complete bool) said {
		r.Begin(Head{ContentType: []byte(a.kind)}, unlimited)
		r.Write([]byte(a.body[:cut/2]))
		r.Write([]byte(a.body[cut/2 : cut]))
		return saidIn(r.End(complete))
	}
	var shared Reader
	for range 20_000 {
		a := all[random.IntN(len(all))]
		cut, complete := len(a.body), true
		if random.IntN(3) == 0 {
			cut, complete = random.IntN(len(a.body)+1), random.IntN(2) == 0
		}
		if got, want := read(&shared, a, cut, complete), read(new(Reader), a, cut, complete); got != want {
			t.Fatalf("%s, %d bytes: %+v, alone %+v", a.name, cut, got, want)
		}
	}
}
