package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// A segment is a file of frames behind a header: magic with format version, spool id, segment id
// (the salt of its frames), least end of its first records, checksum. The id stands in the file's
// name too, so that a damaged header costs no record.
const (
	segmentMagic  = "CGcalls\x01"
	segmentHeader = 52

	maxSegmentBytes = 32 << 20 // failures weigh; a segment must fit into memory
)

// MaxRecords is the number of records at which a segment is sealed. It also is the most rows of one batch:
// changing it re-cuts old segments.
const MaxRecords = 50_000

const (
	unsentSuffix = ".segment"
	sentSuffix   = ".sent" // confirmed by ClickHouse, kept some minutes
)

// Segment is one file of the spool. Its content never changes once it is sealed.
type Segment struct {
	ID      uuid.UUID
	Spool   uuid.UUID
	Sealed  time.Time // for an adopted one: the last write
	Sent    time.Time // when ClickHouse had confirmed all of it
	Adopted bool      // of an earlier process, which perhaps sent it

	number  uint64 // order within its spool
	dir     string
	size    int64
	oldest  int64 // least end of its records, Unix ms; math.MinInt64 when unknown
	calls   tally // of its records; none of an adopted one, which nobody has read yet
	removed atomic.Bool
}

func (s *Segment) path() string {
	suffix := unsentSuffix
	if !s.Sent.IsZero() {
		suffix = sentSuffix
	}
	return filepath.Join(s.dir, s.Name()+suffix)
}

// segmentID makes a segment's id: its first half is its spool's, so that a row in ClickHouse tells by its batch id which
// process recorded the call.
func segmentID(spool uuid.UUID) uuid.UUID {
	id := uuid.New()
	copy(id[:8], spool[:8])
	return id
}

// BatchPrefix is what the batch ids of a spool's segments begin with, of those written since ids are made so.
func BatchPrefix(spool uuid.UUID) string { return spool.String()[:len("xxxxxxxx-xxxx-xxxx")] }

// Name is how messages call the segment, and its file without the suffix.
func (s *Segment) Name() string { return fmt.Sprintf("%012d-%s", s.number, s.ID) }

// Removed tells whether the file is deleted.
func (s *Segment) Removed() bool { return s.removed.Load() }

// header returns the first bytes of the segment's file.
func (s *Segment) header() []byte {
	b := make([]byte, 0, segmentHeader)
	b = append(b, segmentMagic...)
	b = append(b, s.Spool[:]...)
	b = append(b, s.ID[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.oldest))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var errNotSegment = errors.New("not a segment")

// openSegment describes a segment an earlier process left. The file name is what counts; a damaged
// header only hides how old the records are.
func openSegment(path string, spool uuid.UUID) (*Segment, error) {
	base := filepath.Base(path)
	suffix := filepath.Ext(base)
	if suffix != unsentSuffix && suffix != sentSuffix {
		return nil, errNotSegment
	}
	number, id, found := strings.Cut(strings.TrimSuffix(base, suffix), "-")
	s := &Segment{dir: filepath.Dir(path), Spool: spool, oldest: math.MinInt64, Adopted: true}
	var err error
	if s.number, err = strconv.ParseUint(number, 10, 64); err != nil || !found {
		return nil, errNotSegment
	}
	if s.ID, err = uuid.Parse(id); err != nil {
		return nil, errNotSegment
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("adopt segment: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("adopt segment: %w", err)
	}
	s.size, s.Sealed = info.Size(), info.ModTime()
	if suffix == sentSuffix {
		s.Sent = info.ModTime() // set when it was confirmed
	}
	header := make([]byte, segmentHeader)
	if _, err := file.ReadAt(header, 0); err != nil {
		return s, nil // shorter than a header: holds no record
	}
	sum := binary.LittleEndian.Uint32(header[segmentHeader-4:])
	if strings.HasPrefix(string(header), segmentMagic) && sum == crc32.Checksum(header[:segmentHeader-4], castagnoli) {
		s.oldest = int64(binary.LittleEndian.Uint64(header[segmentHeader-12:]))
	}
	return s, nil
}
