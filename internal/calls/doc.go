// Package calls is the life of a call record: made and redacted on the call path, appended to a
// spool on disk, shipped to ClickHouse, accounted for in the ledger.
//
// The hard decision is that there is one path for good days and outages alike, and that it leads
// over a file. A record handed over waits for nobody; once it is in the spool, killing the process
// cannot lose it; and what is sent is cut from immutable files under tokens derived from them, so
// that anything can be sent again, by this process or the next, and still counts once.
//
//	Add → ring (memory, bounded) → writer → segment files → shipper → ClickHouse
//	                                              └ keeper → ledger in PostgreSQL
package calls
