// Writes what internal/pricing suggests prices from: what @pydantic/genai-prices, pinned in package.json, knows, as one
// line a model. What a price book has no meter for is told of as a note.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { waitForUpdate } from '@pydantic/genai-prices';

const home = join(dirname(createRequire(import.meta.url).resolve('@pydantic/genai-prices')), '..');
const { name, version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const source = { package: name, version, license, notice: readFileSync(join(home, 'LICENSE'), 'utf8').trim() };

// Where a rate stands in a price, and how many of the package's units a unit of the book's is.
const fields = {
  input: ['input_mtok', 1],
  cached: ['cache_read_mtok', 1],
  cacheWrite: ['cache_write_mtok', 1],
  output: ['output_mtok', 1],
};
const meters = {
  cache_write_1h: ['cache_write_1h_mtok', 1],
  input_audio: ['input_audio_mtok', 1],
  input_image: ['input_image_mtok', 1],
  input_video: ['input_video_mtok', 1],
  output_audio: ['output_audio_mtok', 1],
  output_image: ['output_image_mtok', 1],
  reasoning: ['output_reasoning_mtok', 1],
  web_searches: ['web_searches_kcount', 1],
  pages: ['input_document_kpages', 1000],
  milliseconds: ['audio_hours', 3600],
};
// Of audio_hours, told twice.
const again = 'input_audio_hours';
const perRequest = ['requests_kcount', 'input_text_messages_kcount'];

// Above how many input tokens a price of the book may begin; the package says of some the last token below.
const bands = [128000, 200000, 256000, 272000, 1000000];
const bandOf = (start) => bands.find((band) => band === start || band === start + 1);

// Providers whose answers name service tiers, which the package does not know.
const tiers = ['anthropic', 'aws', 'azure', 'google', 'groq', 'mistral', 'openai', 'x-ai'];

// A decimal of at most twelve places, as the price book holds.
function decimal(value, notes) {
  const rounded = value.toFixed(12);
  if (Math.abs(Number(rounded) - value) > value * 1e-9) notes.add('rounded');
  return rounded.replace(/\.?0+$/, '');
}

// What a rate is for calls of a band.
function rateOf(rate, band) {
  if (typeof rate !== 'object') return rate;
  return rate.tiers.reduce((held, tier) => (bandOf(tier.start) <= band ? tier.price : held), rate.base);
}

// A price for each band of which there is one.
function priced({ prices: given, constraint }, known) {
  const tiered = Object.values(given).flatMap((rate) => (typeof rate === 'object' ? rate.tiers : []));
  const notes = new Set(known);
  if (tiered.some(({ start }) => bandOf(start) === undefined)) notes.add('tiered');
  const told = new Set([again, ...[...Object.values(fields), ...Object.values(meters)].map(([key]) => key)]);
  for (const key of Object.keys(given)) if (!told.has(key)) notes.add(perRequest.includes(key) ? 'per_request' : 'other_units');
  const from = constraint ? { from: constraint.start_date } : {};
  const all = [...new Set([0, ...tiered.map(({ start }) => bandOf(start) ?? 0)])].sort((a, b) => a - b);
  return all.map((band) => {
    const of = new Set(notes);
    const amounts = (names) =>
      Object.fromEntries(
        Object.entries(names)
          .filter(([, [key]]) => given[key] !== undefined)
          .map(([name, [key, units]]) => [name, decimal(rateOf(given[key], band) / units, of)]),
      );
    const made = { ...(band > 0 && { band }), ...from, input: '0', output: '0', ...amounts(fields) };
    const more = amounts(meters);
    return {
      ...made,
      ...(Object.keys(more).length > 0 && { amounts: more }),
      ...(of.size > 0 && { notes: [...of].sort() }),
    };
  });
}

const usable = ['input_mtok', 'input_document_kpages', 'audio_hours'];

function prices(provider, model) {
  const all = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const known = tiers.includes(provider.id) ? ['standard_tier'] : [];
  if (all.some((one) => one.constraint?.type === 'time_of_date')) known.push('hourly');
  return all
    .filter((one) => one.constraint?.type !== 'time_of_date' && usable.some((key) => one.prices[key] !== undefined))
    .flatMap((one) => priced(one, known));
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
    .map((model) => ({ id: model.id, names: names(model.match, model.id), prices: prices(provider, model) }))
    .filter((model) => model.prices.length > 0)
    .map((model) => '   ' + JSON.stringify(model));
  // Who makes models stands for them, before those who resell them.
  const head = { id: provider.id, name: provider.name, url: provider.api_pattern, maker: provider.model_match !== undefined };
  return `  ${JSON.stringify(head).slice(0, -1)},"models":[\n${models.join(',\n')}\n  ]}`;
});
process.stdout.write(`{"source":${JSON.stringify(source)},\n "providers":[\n${lines.join(',\n')}\n ]}\n`);
