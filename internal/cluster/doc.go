// Package cluster knows what a ClickHouse cluster is made of: the shards and replicas its servers tell, where
// an application's calls lie among them, and how to ask it so that a node that is away or hangs costs seconds
// and never a part of an answer.
//
// Everything but migrations sees a cluster as two databases on every node: the one of CLICKHOUSE_URL, whose
// tables are Distributed and hold nothing, and beside it the shard's own, which holds the rows of its shard
// under the same names.
package cluster
