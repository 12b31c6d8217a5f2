package ship_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

// frameEnds are the ends of a segment's header and of each of its frames, as its format says.
func frameEnds(data []byte) (ends []int) {
	for end := 52; ; end += callstest.FrameHeader + int(binary.LittleEndian.Uint32(data[end+4:])) {
		if ends = append(ends, end); end == len(data) {
			return ends
		}
	}
}

// frame is one of a segment, as its format says.
func frame(segment uuid.UUID, sequence uint32, payload string) []byte {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, sequence)
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, part := range [][]byte{segment[:], head, []byte(payload)} {
		_, _ = sum.Write(part)
	}
	return append(binary.LittleEndian.AppendUint32(append([]byte("\xc5CGf"), head...), sum.Sum32()), payload...)
}

// segmentID is the id in a segment's name.
func segmentID(path string) uuid.UUID {
	_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".segment"), "-")
	return uuid.MustParse(id)
}

// injured makes a segment of its own spool in dir, damaged at a byte, and tells how many of its records are
// whole and how many can be known to be missing.
func injured(t *testing.T, dir string, j callstest.Injury, at int) (whole, missed int) {
	t.Helper()
	own := t.TempDir()
	records := callstest.Sample()
	ledgertest.Spooled(t, own, records...)
	path := ledgertest.Segments(t, own, ".segment")[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at = min(at, len(data)-1) // lengths differ by a byte or two
	lost, missed := j.Expect(frameEnds(data), at)
	for i := range records {
		if !lost(i) {
			whole++
		}
	}
	if err := os.WriteFile(path, j.Injure(data, at), 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Dir(path)
	if err := os.Rename(home, filepath.Join(dir, filepath.Base(home))); err != nil {
		t.Fatal(err)
	}
	return whole, missed
}

// TestASegmentThatCannotBeReadHoldsBackNoOther puts a directory where a segment should be: reading
// fails, as on a bad disk.
func TestASegmentThatCannotBeReadHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	ledgertest.Spooled(t, dir, ledgertest.Many(10)...)
	home := filepath.Dir(ledgertest.Segments(t, dir, ".segment")[0])
	unreadable := filepath.Join(home, fmt.Sprintf("%012d-%s%s", 0, uuid.New(), ".segment"))
	if err := os.Mkdir(unreadable, 0o700); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(unreadable, then, then); err != nil { // the oldest goes first
		t.Fatal(err)
	}
	r := s.Record(t, spool.Config{Dir: dir})
	callstest.Eventually(t, 30*time.Second, "all others are counted", func() bool { return s.Number(t, `SELECT toInt64(count()) FROM calls`) == 10 })
	callstest.Eventually(t, 30*time.Second, "only the unreadable one waits", func() bool { return r.Backlog() == 1 })
	if err := os.Remove(unreadable); err != nil {
		t.Fatal(err)
	}
}
