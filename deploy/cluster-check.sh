#!/bin/sh
# What of docs/cluster.md the embedded engines cannot run: real servers, Keeper itself (make replicas
# has ZooKeeper), ON CLUSTER, secured connections. Run it where clickhouse-client and callgate are, on an empty cluster:
#
#   export CLICKHOUSE_URL='clickhouse://callgate:…@a1:9000,b1:9000/callgate' CLICKHOUSE_CLUSTER=main
#   export DATABASE_URL=… CLICKHOUSE_READER_PASSWORD=…
#   NODES='a1 a2 b1 b2' ONE=a1 OTHER=a2 ACCOUNT=callgate PASSWORD=… deploy/cluster-check.sh
#
# NODES are all nodes, ONE and OTHER two replicas of one shard. It ends at the first step that fails.
set -eu
: "${NODES:?all nodes, separated by spaces}" "${ONE:?a replica}" "${OTHER:?another one of the same shard}" "${ACCOUNT:?}" "${PASSWORD:?}"
: "${CLICKHOUSE_CLUSTER:?}" "${CLICKHOUSE_URL:?}" "${DATABASE_URL:?}"

ask() { # node, statement
	clickhouse-client --host "$1" --user "$ACCOUNT" --password "$PASSWORD" --multiquery --query "$2"
}
step() { printf '\n== %s\n' "$1"; }
must() { # what is, what must be
	[ "$1" = "$2" ] || { echo "FAILED: $1, want $2" >&2; exit 1; }
	echo "ok: $1"
}

step "the cluster is the same on every node, and ON CLUSTER reaches all (it is not needed by callgate)"
for node in $NODES; do
	ask "$node" "SELECT shard_num, replica_num, shard_weight, host_name, port FROM system.clusters WHERE cluster = '$CLICKHOUSE_CLUSTER' ORDER BY 1, 2"
	ask "$node" "SELECT macro, substitution FROM system.macros; SELECT name, host, is_expired FROM system.zookeeper_connection"
done
ask "$ONE" "CREATE DATABASE IF NOT EXISTS on_cluster_check ON CLUSTER '$CLICKHOUSE_CLUSTER'; DROP DATABASE on_cluster_check ON CLUSTER '$CLICKHOUSE_CLUSTER'"

step "migrate, twice: replicated tables, and Distributed tables and views over them, the same on every node"
callgate migrate
callgate migrate
tables="$(ask "$ONE" "SELECT count() FROM system.tables WHERE database = 'callgate_shard' AND engine LIKE 'Replicated%MergeTree'")"
views="$(ask "$ONE" "SELECT count() FROM system.tables WHERE database = 'callgate' AND engine = 'View'")"
[ "$tables" -gt 0 ] && [ "$views" -gt 0 ] || { echo "FAILED: $tables tables, $views views" >&2; exit 1; }
for node in $NODES; do
	must "$(ask "$node" "SELECT count() FROM system.replicas WHERE database = 'callgate_shard' AND NOT is_readonly")" "$tables"
	must "$(ask "$node" "SELECT count() FROM system.tables WHERE database = 'callgate' AND engine = 'Distributed'")" "$tables"
	must "$(ask "$node" "SELECT count() FROM system.tables WHERE database = 'callgate' AND engine = 'View'")" "$views"
done

insert() { # node, token, more settings
	ask "$1" "INSERT INTO callgate_shard.calls (application_id, start_time, call_id, model, duration_ms, success, batch_id)
		SETTINGS insert_deduplication_token = '$2', deduplicate_blocks_in_dependent_materialized_views = 1, async_insert = 0 ${3:-}
		SELECT toUUID('00000000-0000-7000-8000-000000000001'), toDateTime64('2026-01-01 00:00:00', 3, 'Asia/Shanghai') + number,
			generateUUIDv4(), 'check', 5, true, '$2' FROM numbers(100)"
}
counts() { # node: rows, rollups
	ask "$1" "SYSTEM SYNC REPLICA callgate_shard.calls; SYSTEM SYNC REPLICA callgate_shard.usage_daily; SYSTEM SYNC REPLICA callgate_shard.usage_hourly" >/dev/null
	ask "$1" "SELECT (SELECT count() FROM callgate_shard.calls WHERE model = 'check'), (SELECT sum(calls) FROM callgate_shard.usage_daily WHERE model = 'check'),
		(SELECT sum(calls) FROM callgate_shard.usage_hourly WHERE model = 'check')"
}

step "one token through two replicas counts once, rollups included, 200 times"
i=0
while [ $i -lt 200 ]; do
	insert "$ONE" "check/$i"
	insert "$OTHER" "check/$i"
	i=$((i + 1))
done
must "$(counts "$ONE")" "20000	20000	20000"
must "$(counts "$OTHER")" "20000	20000	20000"

step "a replica whose fetches are stopped: its delay grows, a quorum is refused though the row is kept, and counts once afterwards"
ask "$OTHER" "SYSTEM STOP FETCHES callgate_shard.calls"
refused="$(insert "$ONE" check/stopped ', insert_quorum = 2, insert_quorum_timeout = 6000' 2>&1 || true)"
case "$refused" in *UNKNOWN_STATUS_OF_INSERT*) echo "ok: the quorum is refused" ;; *) echo "FAILED: $refused" >&2; exit 1 ;; esac
ask "$OTHER" "SELECT table, absolute_delay, log_max_index, log_pointer, inserts_in_queue FROM system.replicas WHERE database = 'callgate_shard'"
must "$(ask "$OTHER" "SELECT max(absolute_delay) > 2 FROM system.replicas WHERE database = 'callgate_shard'")" 1
echo "with gateways and a console running, and so for a minute: dataThrough of GET /api/statistics/applications/overview is held up once,"
echo "for some seconds, then at most 3 s behind ($ONE is asked), and 'callgate verify' finds 0 differences. Enter ends the minute."
read -r _
ask "$OTHER" "SYSTEM START FETCHES callgate_shard.calls"
insert "$OTHER" check/stopped
must "$(counts "$OTHER")" "20100	20100	20100"

step "a sweep with one replica away ends at once, and reaches it when it is back"
echo "stop $OTHER; delete an application in the console; its calls are gone on $ONE within a minute; start $OTHER; they are gone there too"

step "the data team's account answers on every node, also where remote_servers has a <secret> instead of user and password"
for node in $NODES; do
	clickhouse-client --host "$node" --user callgate_reader --password "${CLICKHOUSE_READER_PASSWORD:?}" --database callgate --query "SELECT count() FROM live_calls"
done

step "under load (callgate serve with calls), one after the other, then 'callgate verify' must say 0 differences"
cat <<'STEPS'
100 times: kill -9 one replica and start it again         calls unaffected, 0 lost, 0 doubled
stop Keeper for a minute (SIGSTOP)                         calls unaffected, records wait, then 0 lost, 0 doubled
kill -9 both replicas of a shard, start them               its statistics 50301, the others' right, then 0 lost, 0 doubled
SIGSTOP a shard                                            an answer about it within 3 s, then 50301
add a replica to remote_servers, callgate migrate          it fetches everything; gateways use it within a minute
CLICKHOUSE_URL with ?secure=true and ports 9440            the same over TLS
STEPS

step "what was inserted here is removed"
for node in $NODES; do
	for table in $(ask "$node" "SELECT table FROM system.columns WHERE database = 'callgate_shard' AND name = 'model'
			AND table IN (SELECT name FROM system.tables WHERE database = 'callgate_shard' AND engine LIKE '%MergeTree')"); do
		ask "$node" "DELETE FROM callgate_shard.$table WHERE model = 'check'"
	done
done
callgate verify
