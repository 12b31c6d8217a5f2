import type { Schemas } from '../api/client';

type Line = Schemas['CallLine'];

const told = ['input', 'output', 'cached_input', 'cache_write', 'reasoning'];

/** The lines of a call that say more than its five numbers and the model that answered. */
export function linesToShow(call: { lines: readonly Line[] }): readonly Line[] {
  const [line] = call.lines;
  const more =
    call.lines.length > 1 ||
    (line && (line.tier !== null || line.band > 0 || Object.keys(line.meters).some((meter) => !told.includes(meter))));
  return more ? call.lines : [];
}
