// Package access answers, for every call, what an Access Key may do: memory, then Redis, then
// Postgres. Its one hard decision is how a grant in memory can be trusted
// without asking anybody, and still be dead two seconds after it was revoked.
//
// Every grant carries the version of its application's row. Triggers raise that version with each
// change and write it to access_changes; the feed reader of every gateway reads the table every
// 500 ms, and at once when a change is announced, on a connection of its own that no load can
// starve, with one second for a read. Whatever was committed when a read began is afterwards a
// floor of the application, and a grant below its floor is never used, wherever it comes from:
// memory, Redis, or a load that was under way. So while Postgres answers a read within its second,
// a revocation is effective at most two seconds after its commit (a read that just missed it ends
// within one second, the next within another). Announcements and the deletion of Redis entries
// make that a few milliseconds, and nothing more rests on them.
//
// A floor must outlive every grant it could be needed against:
//   - Redis gives out only what was read from Postgres in the last 90 s by Postgres' own clock: the
//     time of the read stands in the value, so neither a late write, nor a Redis that forgot to
//     expire, nor a clock of ours can stretch it. Floors live 120 s.
//   - A load that takes longer than 5 s is used for its own call and remembered nowhere.
//   - When floors are dropped, memory is evicted of the grants below them. So a grant in memory has
//     been compared with every change since it was read, and needs no age limit; all the same it is
//     read again in the background every five minutes.
//
// What a read has to return is decided by transaction snapshots and not only by time: it returns
// every row that was not visible to the read before, so a transaction that stays open for an hour
// is not missed. The last 30 s are read again each time on top of that, for the sake of a failover
// that lost transactions. A gateway that could not read for 30 minutes, or finds that the
// database's transaction ids went back, forgets all it knows.
//
// A change lets calls that run go on, unless it is to end them: then a second row of it in access_changes says so (ends_calls),
// and every gateway ends the calls that were let in under a version before (Resolver.OnEnding).
//
// While Postgres cannot be read, memory and Redis are used until Config.StaleOnError after the last
// successful read; from then on every key is ErrUnavailable until Postgres answers. Redis being
// down or slow costs a bounded delay and never an answer: its errors are not "not found".
//
// Memory is keyed by SHA-256 of the Access Key. The look-up HMAC would cost an allocation and
// three times as long on every call; a plain hash is as good here, because the keys hold 256
// random bits, and the key itself is not kept. How long two digests take to compare tells nothing
// about a key, since nobody can choose digests.
package access
