package usage

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestWhatAPieceCostsGrowsWithItsLength: events that end with carriage returns are not passed over, and none of them may cost a
// look through the whole piece.
func TestWhatAPieceCostsGrowsWithItsLength(t *testing.T) {
	const size = 1 << 21
	last := sse(`{"usage":{"prompt_tokens":9,"completion_tokens":12}}`)
	for name, events := range map[string]string{
		"carriage return and line feed": "a\r\n\r\n", "carriage returns": "a\r\r", "texts and carriage returns": "data:1\r\r", "line feeds, no text": "a\n\n",
		"a null usage": "data:{\"usage\":null}\n\n", "a text with usage": "data:\"usage\"\n\n", "escapes": "data:\\u00\n\n", "models": "data:model\n\n", "pairs that are no word": "data:uxa\n\n",
		"an array that does not end": "data:{\"usage\":1,\"a\":[\n\n", "a text that does not end": "data:{\"usage\":1,\"a\":\"\n\n",
	} {
		began := time.Now()
		got := readIn(answer{kind: streamType}, true, []byte(strings.Repeat(events, size/len(events))+last))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if got.Input != 9 || got.Output != 12 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestBothSearchesFindTheSameWords compares the search that a processor may lack with the one for all.
func TestBothSearchesFindTheSameWords(t *testing.T) {
	can := searchesAtOnce
	t.Cleanup(func() { searchesAtOnce = can })
	parts := []string{"u", "a", "m", "d", "0", `\`, "usage", `"usage":`, `"usage": null`, `"usage":null,`, "usageM", `"model"`, "modal", "uxa", `\u00`, `\u01`, `\x0`, "\n\n", strings.Repeat("x", 31), strings.Repeat("y", 64)}
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 0))
		var text strings.Builder
		for range random.IntN(40) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		p := []byte(text.String() + "\n\n")
		for at := range p {
			var behind [2]int
			for i := range behind {
				searchesAtOnce = can && i == 1
				behind[i] = behindLastBreak(p[:at])
			}
			if behind[0] != behind[1] {
				t.Fatalf("seed %d, the last break in %q: %v", seed, p[:at], behind)
			}
			if at > 0 && p[at-1] == '\\' {
				continue // no event begins in an escape
			}
			for _, ofModel := range []bool{false, true} {
				var found [2]int
				for i := range found {
					searchesAtOnce = can && i == 1
					w := newWords(p)
					found[i] = w.nextWord(at, ofModel)
					if found[i] < len(p) && p[found[i]] == '\\' {
						found[i]++ // an escape is found by its u, too
					}
				}
				if found[0] != found[1] && min(found[0], found[1]) < len(p)-8 {
					t.Fatalf("seed %d, from %d of %q, model %v: %v", seed, at, p, ofModel, found)
				}
			}
		}
	}
}
