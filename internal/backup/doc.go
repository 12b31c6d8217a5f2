// Package backup writes what an installation knows to a directory, while it serves, and builds one from such a
// directory. What it must not get wrong is that the parts belong together: PostgreSQL, ClickHouse and the spools
// change all the time, and no snapshot covers all of them.
//
// # The cut
//
// A backup reads, in this order: the spool directory, PostgreSQL in one REPEATABLE READ snapshot, the rows of calls,
// the details of failures, then rollups. Let a call be handed over to a spool before the backup began. When the spool
// directory was read its record was either in a segment that waits to be sent, and so is copied, or its segment had
// been confirmed by ClickHouse, whose rows are read later: it is in the backup, and perhaps twice. Of a spool on
// another machine's disk only the second is possible, so the backup waits until the ledger says that this spool is
// through; one that is not within its patience is named. The ledger's own word (spools.through) is read before the
// rows that it speaks of, so that a restored one promises nothing that is not there.
//
// # Nothing counts twice
//
// A record that is in both parts has the batch id of its segment, day and number in ClickHouse, and an insert is
// atomic: a day's rows are read by one query, so it holds the whole batch or nothing of it. A restored segment is an
// adopted one, last written longer ago than tokens are remembered (internal/calls/ledger/ship, dedupWindow): before such a
// batch is sent its rows are looked for. A segment that was still being written is copied as far as it went, which
// is the beginning of each of its batches, and is recognised in the same way. Details are sent before their calls,
// and are read after them, so that a call that is there has its detail. The cut of batches depends on the number of
// shards, which is why segments are only restored to as many; rows go to any number.
//
// # Rollups are made, not copied
//
// Rows and rollups commit one after the other, and would be read at two moments. So for every day whose calls are
// kept only the calls are in the backup, and the same views that filled the rollups fill them again when the rows are
// inserted: they agree by the way they were made, and verify finds no difference. Only rollups of days whose calls
// have expired are copied (CALL_RETENTION_DAYS); nothing changes there any more. Models ever called are copied too:
// first and last use count once however often they are told.
//
// # PostgreSQL
//
// Tables are read by COPY, so that no pg_dump of the right version is needed; the schema is that of our own
// migrations: a restore makes it as it was in the backup's version, fills it in one transaction, table by table in the
// order of their references, with our triggers off, and brings it to the newest version afterwards. Versions of
// grants are raised beyond any that the lost installation can have handed out, so that no cache holds on to a grant
// of the time between backup and loss. The change feed and sign-in codes are left out: they are of the last minutes.
//
// # What is not in it
//
// Redis holds nothing that is not in PostgreSQL. ENCRYPTION_KEYS and ACCESS_KEY_PEPPER are kept apart, for with them
// a backup opens every key: the manifest has their fingerprints, a backup is only made when they open everything,
// and a restore refuses others. Calls, and everything else, from between the backup and the loss are gone.
//
// # Interruptions
//
// A backup is written aside and renamed when it is whole and on disk. A restore notes in PostgreSQL that it has begun,
// fills PostgreSQL last and takes the note away in the same transaction: repeated, it begins anew.
package backup
