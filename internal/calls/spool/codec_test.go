package spool

import (
	"encoding/hex"
	"reflect"
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
	estimated := callstest.Failed(start)
	estimated.Usage, estimated.Estimated = calls.Usage{State: calls.UsagePartial, Known: calls.UsageInput, Input: 400}, 1<<32-1
	moved := callstest.Success(start)
	moved.UpstreamID, moved.Attempts, moved.FailedAttempt = "spare", 2, calls.FailedAttempt{UpstreamID: "openai-eu", Status: 503, Duration: 1500 * time.Microsecond, Reason: calls.UpstreamStatus}
	lined := callstest.Lined(start)
	oddly := callstest.Success(start)
	oddly.Usage.State = calls.UsageDeferred
	oddly.Lines = []calls.Line{{Model: "m", Tier: "flex", Band: 1_000_000, Meters: []calls.Meter{{Name: "smells", Amount: 1<<63 - 1}}}} // of a later version
	charged := callstest.Failed(start)
	charged.Usage, charged.KeyID, charged.Charged = calls.Usage{}, uuid.Nil, calls.Charge{Amount: "0.000000001", Currency: "USD"}
	alone := callstest.Success(start)
	alone.Usage, alone.KeyID, alone.EndUser = calls.Usage{}, uuid.Nil, "u-8"
	early := callstest.Success(start)
	early.CallID = uuid.UUID{0: 0xff, 1: 0xff} // its time is not the start's
	for name, r := range map[string]*calls.Record{"success": callstest.Success(start), "failure": callstest.Failed(start), "unknown words": odd, "of a trace": traced, "foreign id": early,
		"tokens alone": keyless, "a key alone": keyAlone, "neither": bare, "tokens": counted, "a failure's tokens": uncounted, "an upstream": sent, "an estimate": estimated, "a failed attempt": moved,
		"tags and a user": callstest.Tagged(start), "a user alone": alone, "lines": lined, "a meter of a later version": oddly, "a charge alone": charged} {
		var got Row
		if err := decodePayload(string(appendPayload(nil, r)), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Application != r.ApplicationID || got.User != r.UserID || got.Key != r.KeyID || got.Call != r.CallID || got.Start != r.Start.UnixMilli() ||
			got.DurationUS != 1234567 || int(got.Status) != r.StatusCode || got.Success != r.Success || got.Model != r.Model ||
			got.EndedBy != string(r.EndedBy) || got.ReasonType != string(r.ReasonType) || got.ReasonCode != string(r.ReasonCode) ||
			got.HasFirstByte != (r.FirstByte >= 0) || got.Trace != r.Trace || got.Usage != r.Usage || got.Estimated != r.Estimated || got.UpstreamID != r.UpstreamID || int(got.Attempts) != r.Attempts || got.Start+int64(got.DurationUS/1000) != endOf(r) || got.RequestBytes != 1024 || got.ResponseBytes != 20480 {
			t.Errorf("%s: %+v", name, got)
		}
		if !reflect.DeepEqual(got.Lines, r.Lines) || got.AnswerID != r.AnswerID || got.Charged != r.Charged || !slices.Equal(got.Tags, r.Tags) || got.EndUser != r.EndUser {
			t.Errorf("%s: %+v %q %+v", name, got.Lines, got.AnswerID, got.Charged)
		}
		if f := r.FailedAttempt; got.FailedAttempt != (FailedAttemptRow{f.UpstreamID, uint16(f.Status), uint64(f.Duration / time.Microsecond), string(f.Reason)}) {
			t.Errorf("%s: %+v", name, got.FailedAttempt)
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

// TestARecordOfTheVersionBeforeIsRead, which knew of no estimate, of no failed attempt and of no lines.
func TestARecordOfTheVersionBeforeIsRead(t *testing.T) {
	before, err := hex.DecodeString(`010190a0a00000700080000000000000010190a0a000007000800000000000000201a0c499607b7000800000000000000128ffcfc70487ad4bf60300800880a001` +
		`04040c0b6770742d346f2d6d696e692f00010b000403900303056770742d350210000190a0a0000070008000000000000003030b0002096f70656e61692d657521` +
		`74686520757073747265616d20636f756c64206e6f74206265207265616368656404504f5354142f76312f636861742f636f6d706c6574696f6e73307b226d6573` +
		`7361676573223a5b7b22726f6c65223a2275736572222c22636f6e74656e74223a2268656c6c6f227d5d7d1f7b226d6f64656c223a226770742d346f2d6d696e69` +
		`222c2261223a2231227d01`)
	if err != nil {
		t.Fatal(err)
	}
	got := Row{Estimated: 7, FailedAttempt: FailedAttemptRow{UpstreamID: "eu"}, Lines: callstest.Lined(time.Now()).Lines, AnswerID: "a", Charged: calls.Charge{Amount: "1"}, Tags: []calls.Tag{{Name: "a"}}, EndUser: "u"} // of the row that was read into it before
	want := calls.Usage{State: calls.UsagePartial, Model: "gpt-5", Known: calls.UsageInput | calls.UsageOutput, Input: 400, Output: 3}
	if err := decodePayload(string(before), &got); err != nil || got.Usage != want || got.Estimated != 0 || got.FailedAttempt != (FailedAttemptRow{}) || got.Lines != nil || got.AnswerID != "" || got.Charged != (calls.Charge{}) || got.Tags != nil || got.EndUser != "" || got.Key != callstest.Key ||
		got.UpstreamID != "openai-eu" || got.Attempts != 2 || got.Start != 1_790_000_000_123 || got.Failure.Method != "POST" {
		t.Errorf("%v: %+v", err, got)
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
	if err := decodePayload(string(later), &got); err != nil || got.Usage != r.Usage || got.Estimated != r.Estimated || got.Model != r.Model {
		t.Fatalf("%v: %+v", err, got)
	}
	later[list]++ // a list that is longer than what is there
	if decodePayload(string(later), &got) == nil {
		t.Error("a list that reaches past the record was taken")
	}
}

func FuzzDecodePayload(f *testing.F) {
	f.Add(string(appendPayload(nil, callstest.Success(time.UnixMilli(1_790_000_000_000)))))
	f.Add(string(appendPayload(nil, callstest.Lined(time.UnixMilli(1_790_000_000_000)))))
	f.Add(string(appendPayload(nil, callstest.Tagged(time.UnixMilli(1_790_000_000_000)))))
	f.Add(string(appendPayload(nil, callstest.Failed(time.UnixMilli(1_790_000_000_000)))))
	f.Fuzz(func(t *testing.T, payload string) {
		var r Row
		if decodePayload(payload, &r) == nil && (r.Start < calls.MinStart || r.Start >= calls.MaxStart) {
			t.Errorf("start %d", r.Start)
		}
	})
}
