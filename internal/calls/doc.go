// Package calls is the record of a call: what is known of it. What of a failed one may be kept, internal/redact decides.
//
// The life of a record after that has packages of its own below this one. There is one path for good
// days and outages alike, and it leads over a file: a record handed over waits for nobody; once it is in
// the spool, killing the process cannot lose it; and what is sent is cut from immutable files under tokens
// derived from them, so that anything can be sent again, by this process or the next, and still counts once.
//
//	calls/spool:   Add → redaction, if the call failed → ring (memory, bounded) → writer → segments (files)
//	calls/ledger:  segments → shipper → ClickHouse (ledger/ship), and the account of how far that is in PostgreSQL
package calls
