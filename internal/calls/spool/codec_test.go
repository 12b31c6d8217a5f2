package spool

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
)

func TestARecordSurvivesItsEncoding(t *testing.T) {
	start := time.UnixMilli(1_790_000_000_123)
	odd := callstest.Failed(start)
	odd.EndedBy, odd.ReasonType, odd.ReasonCode = "new_end", "new_type", "new_code" // of a later version
	odd.Failure.BodyNote = "new_note"
	traced := callstest.Failed(start)
	traced.Trace = [16]byte{0: 1, 15: 0xff}
	counted := callstest.Success(start)
	counted.Usage = calls.Usage{State: calls.UsageReported, Model: "gpt-5", Known: calls.UsageInput | calls.UsageReasoning, Input: 1<<32 - 1, Reasoning: 7}
	uncounted := callstest.Failed(start)
	uncounted.Trace, uncounted.Usage = traced.Trace, calls.Usage{State: "new_state"}
	sent := callstest.Failed(start)
	sent.Usage, sent.UpstreamID, sent.Attempts = calls.Usage{}, "openai-eu", 2
	keyless, keyAlone, bare := callstest.Success(start), callstest.Failed(start), callstest.Success(start)
	keyless.KeyID, keyAlone.Usage, bare.KeyID, bare.Usage = uuid.Nil, calls.Usage{}, uuid.Nil, calls.Usage{}
	early := callstest.Success(start)
	early.CallID = uuid.UUID{0: 0xff, 1: 0xff} // its time is not the start's
	for name, r := range map[string]*calls.Record{"success": callstest.Success(start), "failure": callstest.Failed(start), "unknown words": odd, "of a trace": traced, "foreign id": early,
		"tokens alone": keyless, "a key alone": keyAlone, "neither": bare, "tokens": counted, "a failure's tokens": uncounted, "an upstream": sent} {
		var got Row
		if err := decodePayload(string(appendPayload(nil, r)), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Application != r.ApplicationID || got.User != r.UserID || got.Key != r.KeyID || got.Call != r.CallID || got.Start != r.Start.UnixMilli() ||
			got.DurationUS != 1234567 || int(got.Status) != r.StatusCode || got.Success != r.Success || got.Model != r.Model ||
			got.EndedBy != string(r.EndedBy) || got.ReasonType != string(r.ReasonType) || got.ReasonCode != string(r.ReasonCode) ||
			got.HasFirstByte != (r.FirstByte >= 0) || got.Trace != r.Trace || got.Usage != r.Usage || got.UpstreamID != r.UpstreamID || int(got.Attempts) != r.Attempts || got.Start+int64(got.DurationUS/1000) != endOf(r) || got.RequestBytes != 1024 || got.ResponseBytes != 20480 {
			t.Errorf("%s: %+v", name, got)
		}
		if f := r.Failure; f != nil && got.Failure != (FailureRow{f.Message, f.Method, f.Path, string(f.RequestBody), string(f.Query), string(f.BodyNote)}) {
			t.Errorf("%s: %+v", name, got.Failure)
		}
	}
}

func TestASuccessfulRecordTakesAtMostTwoHundredAndTenBytes(t *testing.T) {
	r := callstest.Success(time.Now())
	r.Model = "a-capability-identifier-of-the-greatest-length-that-is-allowed-64"
	if size := frameHeader + len(appendPayload(nil, r)); size > 210 {
		t.Errorf("%d bytes", size)
	}
}

// What a later version adds is passed over, and its record is taken.
func TestAPartThatIsNotKnownIsPassedOver(t *testing.T) {
	r := callstest.Success(time.UnixMilli(1_790_000_000_123))
	r.Usage, r.UpstreamID, r.Attempts = calls.Usage{State: calls.UsageReported, Known: calls.UsageInput, Input: 12}, "", 0
	payload := appendPayload(nil, r)
	list := len(payload) - len(appendMore(nil, r))
	later := append(slices.Clone(payload[:list]), appendMore(nil, r)...)
	later = append(later[:list+2:list+2], append([]byte{99, 3, 0, 'n', 'e', 'w'}, later[list+2:]...)...)
	later = append(later, 98, 0, 0)
	endLength(later, list)
	part := list + 2 + 6 + 1 // and one that a later version made longer
	later = slices.Insert(later, part+2+int(later[part]), 'x')
	later[part]++
	later[list]++
	var got Row
	if err := decodePayload(string(later), &got); err != nil || got.Usage != r.Usage || got.Model != r.Model {
		t.Fatalf("%v: %+v", err, got)
	}
	later[list]++ // a list that is longer than what is there
	if decodePayload(string(later), &got) == nil {
		t.Error("a list that reaches past the record was taken")
	}
}

func FuzzDecodePayload(f *testing.F) {
	f.Add(string(appendPayload(nil, callstest.Success(time.UnixMilli(1_790_000_000_000)))))
	f.Add(string(appendPayload(nil, callstest.Failed(time.UnixMilli(1_790_000_000_000)))))
	f.Fuzz(func(t *testing.T, payload string) {
		var r Row
		if decodePayload(payload, &r) == nil && (r.Start < calls.MinStart || r.Start >= calls.MaxStart) {
			t.Errorf("start %d", r.Start)
		}
	})
}
