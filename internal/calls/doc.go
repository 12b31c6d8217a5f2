// Package calls is the record of a call: what is known of it, and the redaction of what is kept of a
// failed one.
//
// The life of a record after that has two packages of its own below this one. There is one path for good
// days and outages alike, and it leads over a file: a record handed over waits for nobody; once it is in
// the spool, killing the process cannot lose it; and what is sent is cut from immutable files under tokens
// derived from them, so that anything can be sent again, by this process or the next, and still counts once.
//
//	calls/spool:   Add → redaction, if the call failed → ring (memory, bounded) → writer → segments (files)
//	calls/ledger:  segments → shipper → ClickHouse, and a report of how far that is in PostgreSQL
package calls
