package spool

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
)

// What a record has beside the fields that all have is a list of parts: two bytes of its length, then for each part
// its number, two bytes of its length and what it holds. A version that does not know a part passes over it, and
// takes the record without it. A number is never used again.
const (
	partUsage         = 1
	partKey           = 2 // 16 bytes
	partUpstream      = 3
	partEstimated     = 4
	partFailedAttempt = 5
	partLines         = 6
	partAnswer        = 7
	partDimensions    = 8
)

func appendMore(b []byte, r *calls.Record) []byte {
	b, list := beginLength(b)
	if r.Usage.State != "" {
		var part int
		b, part = beginLength(append(b, partUsage))
		b = appendUsage(b, &r.Usage)
		endLength(b, part)
	}
	if r.KeyID != uuid.Nil {
		b = append(append(b, partKey, byte(len(r.KeyID)), 0), r.KeyID[:]...)
	}
	if r.Attempts != 0 {
		var part int
		b, part = beginLength(append(b, partUpstream))
		b = appendText(append(b, byte(r.Attempts)), r.UpstreamID)
		endLength(b, part)
	}
	if r.Estimated != 0 {
		var part int
		b, part = beginLength(append(b, partEstimated))
		b = binary.AppendUvarint(b, uint64(r.Estimated))
		endLength(b, part)
	}
	if f := &r.FailedAttempt; f.UpstreamID != "" {
		var part int
		b, part = beginLength(append(b, partFailedAttempt))
		b = appendText(b, f.UpstreamID)
		b = binary.AppendUvarint(b, uint64(max(f.Status, 0)))
		b = binary.AppendUvarint(b, uint64(max(f.Duration, 0)/time.Microsecond))
		b = appendCode(b, reasonCodeCodes, string(f.Reason))
		endLength(b, part)
	}
	if len(r.Lines) > 0 {
		var part int
		b, part = beginLength(append(b, partLines))
		b = appendLines(b, r.Lines)
		endLength(b, part)
	}
	if r.AnswerID != "" || r.Charged != (calls.Charge{}) {
		var part int
		b, part = beginLength(append(b, partAnswer))
		b = appendText(appendText(appendText(b, r.AnswerID), r.Charged.Amount), r.Charged.Currency)
		endLength(b, part)
	}
	if r.EndUser != "" || len(r.Tags) > 0 {
		var part int
		b, part = beginLength(append(b, partDimensions))
		b = append(appendText(b, r.EndUser), byte(len(r.Tags)))
		for _, tag := range r.Tags {
			b = appendText(appendText(b, tag.Name), tag.Value)
		}
		endLength(b, part)
	}
	endLength(b, list)
	return b
}

// hasMore tells whether a record has any part.
func hasMore(r *calls.Record) bool {
	return r.Usage.State != "" || r.KeyID != uuid.Nil || r.Attempts != 0 || r.Estimated != 0 || r.FailedAttempt.UpstreamID != "" ||
		len(r.Lines) > 0 || r.AnswerID != "" || r.Charged != (calls.Charge{}) || r.EndUser != "" || len(r.Tags) > 0
}

func beginLength(b []byte) (grown []byte, at int) { return append(b, 0, 0), len(b) }

func endLength(b []byte, at int) { binary.LittleEndian.PutUint16(b[at:], uint16(len(b)-at-2)) }

func appendUsage(b []byte, u *calls.Usage) []byte {
	b = append(appendCode(b, usageCodes, string(u.State)), byte(u.Known))
	for _, field := range calls.AllUsageFields {
		if n, known := u.Number(field); known {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return appendText(b, u.Model)
}

// meterCodes are the meters that stand by their place; later ones stand by their name, so that a version before reads them.
var meterCodes = calls.MeterNames[:slices.Index(calls.MeterNames, calls.MeterCostReports)]

func appendLines(b []byte, lines []calls.Line) []byte {
	b = append(b, byte(len(lines)))
	for i := range lines {
		l := &lines[i]
		b = appendText(appendText(b, l.Model), l.Tier)
		b = append(binary.AppendUvarint(b, uint64(l.Band)), byte(len(l.Meters)))
		for _, m := range l.Meters {
			b = binary.AppendUvarint(appendCode(b, meterCodes, m.Name), m.Amount)
		}
	}
	return b
}

// more reads the parts of r that are known.
func (d *decoder) more(r *Row) {
	parts := decoder{rest: d.measured()}
	for parts.rest != "" && !parts.failed {
		number := parts.octet()
		part := decoder{rest: parts.measured()}
		switch number {
		case partUsage:
			part.usage(&r.Usage)
		case partKey:
			part.id(&r.Key)
		case partUpstream:
			r.Attempts, r.UpstreamID = part.octet(), part.text()
		case partEstimated:
			r.Estimated = uint32(part.number(math.MaxUint32))
		case partFailedAttempt:
			r.FailedAttempt = FailedAttemptRow{part.text(), uint16(part.number(math.MaxUint16)), part.number(math.MaxInt64), part.code(reasonCodeCodes)}
		case partLines:
			r.Lines = part.lines()
		case partAnswer:
			r.AnswerID, r.Charged = part.text(), calls.Charge{Amount: part.text(), Currency: part.text()}
		case partDimensions:
			r.EndUser, r.Tags = part.text(), part.tags()
		}
		parts.failed = parts.failed || part.failed
	}
	d.failed = d.failed || parts.failed
}

// measured takes what two bytes of its length stand before.
func (d *decoder) measured() string {
	low, high := d.octet(), d.octet()
	return d.take(uint64(low) | uint64(high)<<8)
}

// usage reads what a later version may have added to.
func (d *decoder) usage(u *calls.Usage) {
	u.State = calls.UsageState(d.code(usageCodes))
	known := calls.UsageFields(d.octet())
	for _, field := range calls.AllUsageFields {
		if known&field != 0 {
			u.Set(field, uint32(d.number(math.MaxUint32)))
		}
	}
	u.Model = d.text()
}

func (d *decoder) lines() []calls.Line {
	lines := make([]calls.Line, d.octet())
	for i := range lines {
		l := &lines[i]
		l.Model, l.Tier, l.Band = d.text(), d.text(), uint32(d.number(math.MaxUint32))
		l.Meters = make([]calls.Meter, d.octet())
		for j := range l.Meters {
			l.Meters[j] = calls.Meter{Name: d.code(meterCodes), Amount: d.number(math.MaxInt64)}
		}
	}
	return lines
}

func (d *decoder) tags() []calls.Tag {
	tags := make([]calls.Tag, d.octet())
	for i := range tags {
		tags[i] = calls.Tag{Name: d.text(), Value: d.text()}
	}
	return tags
}
