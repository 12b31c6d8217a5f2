#!/usr/bin/env bash
# ClickHouse 26.7.2.1, as the npm packages chdb 3.4.0 and @chdb/lib-linux-x64-gnu 26.7.3-stable.1 have it.
#
# An account of analysts is granted some columns of a table of calls: a map of tags and a nullable number of tokens.
# Expected: whoever may read a column may ask for a key of the map, how many it has, and whether the number is null.
# Seen: "Not enough privileges": the server reads a part of the column instead, `tags.key_team`, `tags.size0` or
# `tokens.null`, and wants a grant of that. The whole column can be read all the same, and a grant of the whole table has no
# such effect, so that who tests with an account of everything does not see it.
# What helps: optimize_functions_to_subcolumns = 0 in the account's profile; then the whole column is read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund chdb@3.4.0 @chdb/lib-linux-x64-gnu@26.7.3-stable.1
cat > users.xml <<'XML'
<clickhouse>
  <users><default>
    <password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
    <grants>
      <query>GRANT CREATE DATABASE, CREATE TABLE, INSERT ON ledger.*</query>
      <query>GRANT SELECT(tags, tokens) ON ledger.calls</query>
    </grants>
  </default></users>
  <profiles><default/></profiles><quotas><default/></quotas>
</clickhouse>
XML
echo "<clickhouse><users_config>$folder/users.xml</users_config></clickhouse>" > config.xml
cat > main.mjs <<'JS'
import { Session } from 'chdb';

const session = new Session('./data', { connectionArgs: ['--config-file=./config.xml'] });
session.query('CREATE DATABASE ledger');
session.query('CREATE TABLE ledger.calls (tags Map(String, String), tokens Nullable(UInt32)) ENGINE = MergeTree ORDER BY tuple()');
session.query("INSERT INTO ledger.calls VALUES (map('team', 'search'), 7)");

const wants = (sql) => {
  try {
    session.query(`${sql} FROM ledger.calls`, 'TSV');
    return 'answered';
  } catch (error) {
    return /grant (SELECT\(.*?\)) ON/.exec(error.message)?.[1] ?? error.message;
  }
};
const expected = {
  'SELECT tags, tokens': 'answered',
  "SELECT tags['team']": 'SELECT(`tags.key_team`)',
  'SELECT length(tags)': 'SELECT(`tags.size0`)',
  'SELECT countIf(isNotNull(tokens))': 'SELECT(`tokens.null`)',
};
let same = true;
for (const [sql, seen] of Object.entries(expected)) {
  const got = wants(sql);
  console.log(`${sql}: ${got}`);
  same &&= got === seen;
}
session.query('SET optimize_functions_to_subcolumns = 0');
for (const sql of Object.keys(expected)) {
  const got = wants(sql);
  console.log(`${sql}, of whole columns: ${got}`);
  same &&= got === 'answered';
}
process.exit(same ? 0 : 1);
JS
node main.mjs
