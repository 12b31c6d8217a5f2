// Package spool keeps call records on disk from the end of a call until ClickHouse has confirmed them.
//
// Whoever hands a record over waits for no disk: a failed call's detail is redacted beside it, a ring in
// memory takes the record, and one writer appends what the ring holds to a segment, which is a file of
// checksummed frames. Once a record is written, killing the process cannot lose it. A sealed segment never
// changes, and waits until it is confirmed. Any number of processes share a directory: each writes to a home
// of its own there and holds its lock, and what an ended one left is adopted by whoever gets that lock.
// What finds no room is dropped and counted, per Beijing day and application.
//
//	Add → redaction queue → ring → writer → open segment → sealed ones → (package ledger) → kept a while, deleted
package spool
