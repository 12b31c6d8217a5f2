package spool

import (
	"errors"
	"math"

	"github.com/google/uuid"

	"callgate/internal/calls"
)

// Row is a decoded record; its strings are parts of the segment's text.
type Row struct {
	Application, User, Call                     uuid.UUID
	Key                                         uuid.UUID // the zero one: not known
	Start                                       int64     // Unix milliseconds
	DurationUS, FirstByteUS                     uint64
	Status, Upstream                            uint16
	RequestBytes, ResponseBytes                 uint64
	Success, Streamed, HasFirstByte, HasFailure bool
	EndedBy, ReasonType, ReasonCode, Model      string
	Trace                                       calls.TraceID
	Usage                                       calls.Usage
	Lines                                       []calls.Line
	AnswerID                                    string
	Charged                                     calls.Charge
	Tags                                        []calls.Tag
	EndUser                                     string
	Estimated                                   uint32
	UpstreamID                                  string
	Attempts                                    uint8
	FailedAttempt                               FailedAttemptRow
	Failure                                     FailureRow
}

// FailedAttemptRow is the attempt of a Row that another one followed; without an UpstreamID there was none.
type FailedAttemptRow struct {
	UpstreamID string
	Status     uint16
	DurationUS uint64
	Reason     string
}

// FailureRow is the detail of a Row that HasFailure.
type FailureRow struct {
	Message, Method, Path, Body, Query, Note string
}

var errPayload = errors.New("payload is not a call record")

// decodePayload reads a payload into r without copying its strings.
func decodePayload(payload string, r *Row) error {
	d := decoder{rest: payload}
	if d.octet() != payloadVersion {
		return errPayload
	}
	d.id(&r.Application)
	d.id(&r.User)
	d.id(&r.Call)
	flags := d.octet()
	r.Success, r.Streamed = flags&flagSuccess != 0, flags&flagStreamed != 0
	r.HasFirstByte, r.HasFailure = flags&flagFirstByte != 0, flags&flagFailure != 0
	r.Start = idMilli(r.Call) + d.varint()
	r.DurationUS, r.FirstByteUS = d.number(math.MaxInt64), 0
	if r.HasFirstByte {
		r.FirstByteUS = d.number(math.MaxInt64)
	}
	r.Status = uint16(d.number(math.MaxUint16))
	r.Upstream = uint16(d.number(math.MaxUint16))
	r.RequestBytes, r.ResponseBytes = d.number(math.MaxUint64), d.number(math.MaxUint64)
	r.EndedBy = d.code(endedByCodes)
	r.ReasonType = d.code(reasonTypeCodes)
	r.ReasonCode = d.code(reasonCodeCodes)
	r.Model = d.text()
	if r.Trace = (calls.TraceID{}); flags&flagTrace != 0 {
		copy(r.Trace[:], d.take(uint64(len(r.Trace))))
	}
	r.Key, r.UpstreamID, r.Attempts, r.Estimated, r.FailedAttempt = uuid.Nil, "", 0, 0, FailedAttemptRow{}
	r.Lines, r.AnswerID, r.Charged, r.Tags, r.EndUser = nil, "", calls.Charge{}, nil, ""
	if r.Usage = (calls.Usage{}); flags&flagMore != 0 {
		d.more(r)
	}
	r.Failure = FailureRow{}
	if r.HasFailure {
		f := &r.Failure
		f.Message, f.Method, f.Path, f.Body, f.Query = d.text(), d.text(), d.text(), d.text(), d.text()
		f.Note = d.code(noteCodes)
	}
	if d.failed || d.rest != "" || flags >= flagMore<<1 || r.Start < calls.MinStart || r.Start >= calls.MaxStart {
		return errPayload
	}
	return nil
}

// decoder takes values off the front of a payload; once one does not fit, failed stays set.
type decoder struct {
	rest   string
	failed bool
}

func (d *decoder) take(n uint64) string {
	if d.failed || n > uint64(len(d.rest)) {
		d.failed = true
		return ""
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) octet() byte {
	if taken := d.take(1); taken != "" {
		return taken[0]
	}
	return 0
}

func (d *decoder) id(id *uuid.UUID) { copy(id[:], d.take(uint64(len(id)))) }

func (d *decoder) number(most uint64) uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.octet()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > most || shift == 63 && b > 1 {
				d.failed = true
				return 0
			}
			return n
		}
	}
	d.failed = true
	return 0
}

func (d *decoder) varint() int64 {
	n := d.number(math.MaxUint64)
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) text() string { return d.take(d.number(maxPayload)) }

func (d *decoder) code(codes []string) string {
	switch n := int(d.octet()); {
	case n == 0:
		return d.text()
	case n <= len(codes):
		return codes[n-1]
	}
	d.failed = true
	return ""
}
