// Package ledger brings the calls of the spool into ClickHouse, each once, and keeps account of how complete
// they are there.
//
// A Shipper cuts sealed segments into batches by Beijing day and inserts each under a token that any process
// derives alike, so that it can be sent again and still counts once; what ClickHouse lost in a power
// failure is sent again. It reports to PostgreSQL up to when everything is confirmed, and what is known to
// be missing: that is the ledger, which the statistics are answered with. Maintenance repairs rollups that
// disagree with their calls, and sweeps the calls of deleted applications.
package ledger
