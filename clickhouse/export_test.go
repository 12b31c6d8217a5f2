package clickhouse

// ReaderStatements are what Reader runs.
var ReaderStatements = readerStatements
