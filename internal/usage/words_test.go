package usage

import (
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
		"a null usage": "data:{\"usage\":null}\n\n", "a text with usage": "data:\"usage\"\n\n", "escapes": "data:\\u00\n\n", "models": "data:model\n\n",
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
