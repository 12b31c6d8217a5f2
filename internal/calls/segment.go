package calls

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
	"time"

	"github.com/google/uuid"
)

// A segment is a file of frames behind a header: magic with format version, spool id, segment id
// (the salt of its frames), least end of its first records, checksum. The id stands in the file's
// name too, so that a damaged header costs no record.
const (
	segmentMagic  = "CGcalls\x01"
	segmentHeader = 52

	maxSegmentRecords = 50_000   // also the most rows of one batch: changing it re-cuts old segments
	maxSegmentBytes   = 32 << 20 // failures weigh; a segment must fit into memory
)

const (
	unsentSuffix = ".segment"
	sentSuffix   = ".sent" // confirmed by ClickHouse, kept some minutes
)

// segment is one file of the spool. Its content never changes once it is sealed.
type segment struct {
	id     uuid.UUID
	spool  uuid.UUID
	number uint64 // order within its spool
	dir    string
	size   int64
	oldest int64     // least end of its records, Unix ms; math.MinInt64 when unknown
	sealed time.Time // for an adopted one: the last write
	sent   time.Time // when ClickHouse had confirmed all of it

	// Shipping, touched by the shipper alone.
	due     time.Time // not before
	tries   int
	adopted bool // sent by an earlier process, perhaps
	batches map[string]*attempt
}

// attempt is what is known of one batch's fate.
type attempt struct {
	first   time.Time // first time it was sent
	done    bool
	suspect bool // confirmed, yet its rows were not found
	again   int  // how often it was confirmed without being there
}

func (s *segment) path() string {
	suffix := unsentSuffix
	if !s.sent.IsZero() {
		suffix = sentSuffix
	}
	return filepath.Join(s.dir, s.name()+suffix)
}

func (s *segment) name() string { return fmt.Sprintf("%012d-%s", s.number, s.id) }

// header returns the first bytes of the segment's file.
func (s *segment) header() []byte {
	b := make([]byte, 0, segmentHeader)
	b = append(b, segmentMagic...)
	b = append(b, s.spool[:]...)
	b = append(b, s.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.oldest))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var errNotSegment = errors.New("not a segment")

// openSegment describes a segment an earlier process left. The file name is what counts; a damaged
// header only hides how old the records are.
func openSegment(path string, spool uuid.UUID) (*segment, error) {
	base := filepath.Base(path)
	suffix := filepath.Ext(base)
	if suffix != unsentSuffix && suffix != sentSuffix {
		return nil, errNotSegment
	}
	number, id, found := strings.Cut(strings.TrimSuffix(base, suffix), "-")
	s := &segment{dir: filepath.Dir(path), spool: spool, oldest: math.MinInt64, adopted: true}
	var err error
	if s.number, err = strconv.ParseUint(number, 10, 64); err != nil || !found {
		return nil, errNotSegment
	}
	if s.id, err = uuid.Parse(id); err != nil {
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
	s.size, s.sealed = info.Size(), info.ModTime()
	if suffix == sentSuffix {
		s.sent = info.ModTime() // set when it was confirmed
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
