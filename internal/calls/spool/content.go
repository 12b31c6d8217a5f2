package spool

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Content is a segment read back: its records in the order they were written, and what could not be read.
// Its buffers are reused for the next segment.
type Content struct {
	Rows        []Row
	Damaged     int           // records known to be lost
	Undecodable []Undecodable // intact frames whose payload is no record

	data []byte
}

// Undecodable is a payload that is not a record.
type Undecodable struct {
	sequence uint32
	payload  string
}

// Read fills c from a segment's file.
func (c *Content) Read(g *Segment) error {
	c.Rows, c.Undecodable = c.Rows[:0], nil
	file, err := os.Open(g.path())
	if err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	c.data = slices.Grow(c.data[:0], int(info.Size()))[:info.Size()]
	if _, err := io.ReadFull(file, c.data); err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	found := scanFrames(c.data, g.ID[:], func(sequence uint32, payload string) {
		c.Rows = append(c.Rows, Row{})
		if decodePayload(payload, &c.Rows[len(c.Rows)-1]) != nil {
			c.Rows = c.Rows[:len(c.Rows)-1]
			c.Undecodable = append(c.Undecodable, Undecodable{sequence, payload})
		}
	})
	if c.Damaged = found.damaged; found.torn {
		c.Damaged++ // one at least; more cannot be known
	}
	return nil
}

const quarantineDir = "quarantine"

// Quarantine keeps a payload that cannot be decoded, for a person to look at.
func (s *Spool) Quarantine(g *Segment, bad Undecodable) error {
	dir := filepath.Join(s.dir, quarantineDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	name := filepath.Join(dir, fmt.Sprintf("%s-%d.payload", g.ID, bad.sequence))
	if err := os.WriteFile(name, []byte(bad.payload), 0o600); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}
