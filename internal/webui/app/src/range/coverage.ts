import { addDays, dayOf } from './days';

/** What an answer says of the calls it can know about; `answeredAt` is the server's clock in ms. */
export interface Coverage {
  start: string;
  end: string;
  dataThrough: string;
  collectedSince: string;
  retainedFrom: string;
  answeredAt: number;
}

type Records = Pick<Coverage, 'collectedSince' | 'retainedFrom'>;

/** Figures that are behind for longer than this, in ms, are said to be. */
export const LATE = 60_000;

const midnight = (day: string): number => Date.parse(`${day}T00:00:00+08:00`);

/** The first Beijing day with records: none are older than the collection, none are kept beyond retention. */
export function firstDay({ collectedSince, retainedFrom }: Records): string {
  const began = dayOf(Date.parse(collectedSince));
  return began > retainedFrom ? began : retainedFrom;
}

/** Whether every hour from the beginning of this day on was collected and is still kept. */
export const whole = (start: string, records: Records): boolean =>
  midnight(start) >= Date.parse(records.collectedSince) && start >= records.retainedFrom;

/** Whether the range ends before there are any records. */
export const unrecorded = (coverage: Records & Pick<Coverage, 'end'>): boolean => coverage.end < firstDay(coverage);

/** Whether calls are missing that ended in the range, or by the time of the answer, more than LATE before. */
export function late({ end, dataThrough, answeredAt }: Coverage): boolean {
  return Math.min(answeredAt, midnight(addDays(end, 1))) - Date.parse(dataThrough) > LATE;
}
