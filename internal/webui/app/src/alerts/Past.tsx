import { useEffect, useState } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { pastOf, type Typed } from './draft';
import { alertQueries, type Alert } from './queries';
import { useQuantity } from './useQuantity';

const SHOWN = 5;
const PAUSE = 400; // ms until what is typed is asked for
const DAY = 86_400_000;

/** When an own alert would have fired; nothing where that cannot be said. */
export default function Past({ typed, saved }: { typed: Typed; saved: Alert | null }) {
  const { t } = useTranslation('preview');
  const draft = useSettled(JSON.stringify(pastOf(typed, saved)));
  const { data, isError, isPlaceholderData } = useQuery({ ...alertQueries.past(draft), placeholderData: keepPreviousData });
  if (draft === null) return null;
  return (
    <section className="alert-past" aria-label={t('title')} aria-busy={isPlaceholderData || undefined} role="status">
      {isError ? t('failed') : data ? <Told of={data} draft={draft} typed={typed} /> : t('looking')}
    </section>
  );
}

/** What a text of JSON says, once it has not changed for a while. */
function useSettled(text: string): Schemas['AlertPreviewDraft'] | null {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return JSON.parse(settled) as Schemas['AlertPreviewDraft'] | null;
}

function Told({ of, draft, typed }: { of: Schemas['AlertPreview']; draft: Schemas['AlertPreviewDraft']; typed: Typed }) {
  const { t } = useTranslation('preview');
  const format = useFormat();
  const quantity = useQuantity();
  const { count, items } = of;
  if (count === null) return null;
  const span = Date.parse(of.to) - Date.parse(of.from);
  const since = span < 29 * DAY ? t('from', { at: format.time(of.from).slice(0, 16) }) : t('month');
  const byDay = draft.kind === 'tokens' || draft.kind === 'cost';
  const shown = items.slice(0, SHOWN);
  const tell = ({ from, to, worst }: Schemas['AlertFiring']) => {
    const value = quantity({ kind: typed.kind, unit: draft.currency ?? '' }, worst);
    const at = format.time(from);
    if (byDay) return t(draft.period === 'month' ? 'ofMonth' : 'ofDay', { at: at.slice(0, 10), worst: value });
    if (to === null) return t('still', { at, worst: value });
    return t('ended', { at, long: format.duration(Date.parse(to) - Date.parse(from)), worst: value });
  };
  return (
    <>
      <p>
        <strong>
          {count === 0 ? t('never', { since }) : count === 1 ? t('once', { since }) : t('times', { since, n: format.count(count) })}
        </strong>
        {count > shown.length && <span className="meta"> {t('last', { n: String(shown.length) })}</span>}
      </p>
      {shown.length > 0 && (
        <ul>
          {shown.map((one) => (
            <li key={one.from}>{tell(one)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
