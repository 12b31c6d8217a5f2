package spool

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A frame is magic, length, sequence, CRC32C, payload; integers little-endian. The checksum covers
// the segment's id (so that a block of another file cannot pass), length, sequence and payload.
// The sequence counts the records of a segment from 0. The frame that seals a segment has an empty
// payload and the number of records as its sequence: with it a damaged end is noticed too.
const (
	frameMagic  = "\xc5CGf"
	frameHeader = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameSum is the checksum of a frame; head is length and sequence.
func frameSum(salt, head, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, salt)
	sum = crc32.Update(sum, castagnoli, head)
	return crc32.Update(sum, castagnoli, payload)
}

// beginFrame reserves the header of a frame; the payload is appended after it, then endFrame.
func beginFrame(b []byte) []byte {
	return append(b, frameMagic+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
}

// endFrame fills the header of the frame that begins at b[at:] and ends with b.
func endFrame(b []byte, at int, salt []byte, sequence uint32) {
	frame := b[at:]
	payload := frame[frameHeader:]
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(frame[8:], sequence)
	binary.LittleEndian.PutUint32(frame[12:], frameSum(salt, frame[4:12], payload))
}

// scan is what was found in the bytes of a segment.
type scan struct {
	records int  // intact frames with a payload
	damaged int  // records that are known to be missing, by gaps in the sequence
	torn    bool // what follows the last intact frame is more than a spoilt seal: a record began there
	sealed  bool // the sealing frame was found
}

// scanFrames calls each with every intact frame of data, in order. What is damaged is stepped over
// to the next magic that begins an intact frame; no UTF-8 text can contain a magic. A frame whose
// sequence does not rise is stale and ignored.
func scanFrames(data, salt []byte, each func(sequence uint32, payload string)) scan {
	var found scan
	next := uint32(0)    // least sequence expected
	text := string(data) // payloads are parts of it, and outlive data
	end := segmentHeader // of the last intact frame
	for at := 0; ; {
		skip := strings.Index(text[at:], frameMagic)
		if skip < 0 {
			found.torn = len(data)-end > frameHeader // of which a seal consists
			return found
		}
		at += skip
		length, sequence, ok := frameAt(data, at, salt)
		if !ok || sequence < next {
			at++ // the magic was damage, or part of a damaged frame's payload
			continue
		}
		found.damaged += int(sequence - next)
		payload := text[at+frameHeader:][:length]
		at += frameHeader + length
		end = at
		if length == 0 {
			found.sealed = true
			return found
		}
		next = sequence + 1
		found.records++
		each(sequence, payload)
	}
}

// frameAt returns the payload's length and the sequence of an intact frame at data[at:].
func frameAt(data []byte, at int, salt []byte) (length int, sequence uint32, ok bool) {
	if len(data)-at < frameHeader {
		return 0, 0, false
	}
	head := data[at+4 : at+12]
	length = int(binary.LittleEndian.Uint32(head))
	if length > maxPayload || length > len(data)-at-frameHeader {
		return 0, 0, false
	}
	body := data[at+frameHeader:][:length]
	sequence = binary.LittleEndian.Uint32(head[4:])
	if sequence > MaxRecords || binary.LittleEndian.Uint32(data[at+12:]) != frameSum(salt, head, body) {
		return 0, 0, false
	}
	return length, sequence, true
}
