package meter

import "testing"

// Cohere's v1 ends a stream with its usage under meta, in an event that repeats the whole text.
func TestATextThatSaysDeltaHidesNoUsage(t *testing.T) {
	var r Reader
	r.Begin(Head{ContentType: []byte(streamType)}, unlimited)
	for _, event := range []string{
		`{"event_type":"text-generation","text":"a river's delta, \"delta\":1"}`,
		`{"event_type":"stream-end","response":{"generation_id":"g","text":"a river's delta, \"delta\":1","meta":{"billed_units":{"input_tokens":9,"output_tokens":12}}}}`,
	} {
		r.Write([]byte(sse(event)))
	}
	report := r.End(true)
	used := report.Sum()
	in, _ := used.Count(Input)
	out, _ := used.Count(Output)
	if report.State != Reported || in != 9 || out != 12 {
		t.Errorf("%v: %d read and %d written, want 9 and 12", report.State, in, out)
	}
}
