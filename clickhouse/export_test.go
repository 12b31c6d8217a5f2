package clickhouse

// ReaderStatements are what Reader runs.
var ReaderStatements = readerStatements

// ForShard are the migrations of a shard's database.
var ForShard = forShard
