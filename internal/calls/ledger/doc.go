// Package ledger is the account, in PostgreSQL, of how complete the calls in ClickHouse are: up to when each gateway's spool
// is confirmed, what is known to be missing, and how long what is stored is kept. The statistics are answered with it.
//
// Who writes it are the packages below:
//
//	ledger/ship:    segments of the spool into ClickHouse, each call once, and the report of how far that is
//	ledger/upkeep:  rollups that disagree with their calls are repaired, those of deleted applications swept
//	ledger/days:    Beijing days are closed, and copied to data teams
//	ledger/shards:  the servers of ClickHouse that they all write to
package ledger
