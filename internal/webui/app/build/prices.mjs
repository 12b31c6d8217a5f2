// Writes what internal/pricing suggests prices from: what @pydantic/genai-prices, pinned in package.json, knows of
// tokens, as one line a model. The package's other units (searches, pages, hours) have no place in a price book.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { waitForUpdate } from '@pydantic/genai-prices';

const home = join(dirname(createRequire(import.meta.url).resolve('@pydantic/genai-prices')), '..');
const { name, version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const source = { package: name, version, license, notice: readFileSync(join(home, 'LICENSE'), 'utf8').trim() };

// Of a model's rates those of text; the others are told of as a note.
const rates = { input: 'input_mtok', cached: 'cache_read_mtok', cacheWrite: 'cache_write_mtok', output: 'output_mtok' };
const besides = /audio|image|video|kpages|hours|requests|messages|reasoning|citation/;

// A decimal of at most four places, as the price book holds; what has more of them is told.
function decimal(value, notes) {
  const rounded = value.toFixed(4);
  if (Math.abs(Number(rounded) - value) > 1e-9) notes.add('rounded');
  return rounded.replace(/\.?0+$/, '');
}

function price(conditional, notes) {
  const given = conditional.prices;
  const made = conditional.constraint ? { from: conditional.constraint.start_date } : {};
  for (const [field, key] of Object.entries(rates)) {
    const rate = given[key];
    if (rate === undefined) continue;
    if (typeof rate === 'object') notes.add('tiered');
    made[field] = decimal(typeof rate === 'object' ? rate.base : rate, notes);
  }
  if (Object.keys(given).some((key) => besides.test(key))) notes.add('other_units');
  return made;
}

function prices(model) {
  const all = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const hourly = all.some((one) => one.constraint?.type === 'time_of_date');
  return all
    .filter((one) => one.constraint?.type !== 'time_of_date')
    .map((one) => {
      const notes = new Set(hourly ? ['hourly'] : []);
      const made = price(one, notes);
      return notes.size > 0 ? { ...made, notes: [...notes].sort() } : made;
    })
    .filter((one) => one.input !== undefined)
    .map((one) => ({ ...one, output: one.output ?? '0' }));
}

// The other names a model goes by; one that ends in * is a beginning. Rules beyond that are left out.
function names(match, id) {
  const rules = match.or ?? [match];
  return rules
    .flatMap((rule) => (rule.equals ? [rule.equals] : rule.starts_with ? [rule.starts_with + '*'] : []))
    .filter((other) => other !== id);
}

const lines = (await waitForUpdate()).map((provider) => {
  const models = provider.models
    .map((model) => ({ id: model.id, names: names(model.match, model.id), prices: prices(model) }))
    .filter((model) => model.prices.length > 0)
    .map((model) => '   ' + JSON.stringify(model));
  // Who makes models stands for them, before those who resell them.
  const head = { id: provider.id, name: provider.name, url: provider.api_pattern, maker: provider.model_match !== undefined };
  return `  ${JSON.stringify(head).slice(0, -1)},"models":[\n${models.join(',\n')}\n  ]}`;
});
process.stdout.write(`{"source":${JSON.stringify(source)},\n "providers":[\n${lines.join(',\n')}\n ]}\n`);
