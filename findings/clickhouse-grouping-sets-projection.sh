#!/usr/bin/env bash
# ClickHouse 26.7.2.1, as the npm packages chdb 3.4.0 and @chdb/lib-linux-x64-gnu 26.7.3-stable.1 have it.
#
# A table of calls has a projection with their number and tokens by day and model. A report wants both: each day of each model,
# and the totals, which GROUPING SETS give in one question.
# Expected: that is answered from the projection, as GROUP BY day, model is, and as WITH TOTALS, ROLLUP and CUBE are: all of its
# sets are sums of the projection's rows.
# Seen: with GROUPING SETS every row of the table is read, without a word. A question with GROUPING SETS around one that groups
# plainly reads the projection.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund chdb@3.4.0 @chdb/lib-linux-x64-gnu@26.7.3-stable.1
cat > main.mjs <<'JS'
import { Session } from 'chdb';

const session = new Session('./data');
session.query('CREATE DATABASE ledger');
session.query(`CREATE TABLE ledger.calls (day Date, model String, tokens UInt64, PROJECTION by_day (SELECT day, model, count(), sum(tokens) GROUP BY day, model))
  ENGINE = MergeTree ORDER BY tuple()`);
session.query(`INSERT INTO ledger.calls SELECT toDate('2026-11-01') + number % 30, concat('model-', toString(number % 7)), number FROM numbers(100000)`);

const sums = 'count(), sum(tokens) FROM ledger.calls';
const questions = {
  'GROUP BY': [`SELECT day, model, ${sums} GROUP BY day, model`, true],
  'WITH TOTALS': [`SELECT day, model, ${sums} GROUP BY day, model WITH TOTALS`, true],
  'GROUPING SETS': [`SELECT day, model, ${sums} GROUP BY GROUPING SETS ((day, model), ())`, false],
  ROLLUP: [`SELECT day, model, ${sums} GROUP BY ROLLUP(day, model)`, true],
  CUBE: [`SELECT day, model, ${sums} GROUP BY CUBE(day, model)`, true],
  'GROUPING SETS around GROUP BY': [
    'SELECT day, model, sum(calls), sum(used) FROM (SELECT day, model, count() AS calls, sum(tokens) AS used FROM ledger.calls GROUP BY day, model) GROUP BY GROUPING SETS ((day, model), ())',
    true,
  ],
};
let same = true;
for (const [name, [sql, expected]] of Object.entries(questions)) {
  const projected = session.query(`EXPLAIN ${sql}`, 'TSV').includes('by_day');
  console.log(`${name}: ${projected ? 'the projection' : 'every row'} is read`);
  same &&= projected === expected;
}
process.exit(same ? 0 : 1);
JS
node main.mjs
