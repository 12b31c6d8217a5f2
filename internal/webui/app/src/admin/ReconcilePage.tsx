import '../ui/field.css';
import './admin.css';
import { lazy, Suspense, useId, useRef, useState } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/error';
import { useFormat } from '../format/useFormat';
import { today } from '../range/days';
import { Block, Empty } from '../ui/Block';
import { Button } from '../ui/Button';
import { Fault } from '../ui/Fault';
import { Pages } from '../ui/Pages';
import { useSearch } from '../ui/useSearch';
import { useTitle } from '../ui/useTitle';
import { comparisonOf, fileOf, invoiceQueries, rowsOf, ZONES, type Row } from './invoice';

const BilledMonth = lazy(() => import('./BilledMonth'));

const SIZE = 50;
const MOST_BYTES = 1 << 20;

/** What was counted of a month beside what a provider bills. Month and zone stand in the URL; the file stays here. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('reconcile.title'));
  const [search, setSearch] = useSearch();
  const month = search.get('month') ?? today().slice(0, 7);
  const zone = search.get('zone') ?? 'UTC';
  const query = useQuery(invoiceQueries.counted(month, zone));
  const compare = useMutation({ mutationFn: async (file: File) => comparisonOf(month, zone, await file.text()), gcTime: 0 });
  const choose = (change: Record<string, string>) => {
    compare.reset();
    setChosen('');
    setSearch(change);
  };
  const [large, setLarge] = useState(false);
  const [chosen, setChosen] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const upload = (file: File | undefined) => {
    setChosen(file?.name ?? '');
    setLarge(file !== undefined && file.size > MOST_BYTES);
    if (file && file.size <= MOST_BYTES) compare.mutate(file);
  };
  const rows = rowsOf(query.data, compare.data);
  return (
    <>
      <div className="page-head">
        <h1>{t('reconcile.title')}</h1>
        <Button disabled={rows.length === 0} onClick={() => save(`${month}-${zone.replaceAll('/', '-')}.csv`, fileOf(rows))}>
          {t('reconcile.save')}
        </Button>
      </div>
      <section className="block" aria-label={t('reconcile.title')}>
        <p className="second spools-about">{t('reconcile.about')}</p>
        <div className="filters">
          <div className="field">
            <label htmlFor={`${id}-month`}>{t('reconcile.month')}</label>
            <Suspense fallback={<div className="input" aria-hidden="true" />}>
              <BilledMonth id={`${id}-month`} month={month} today={today()} onMonth={(month) => choose({ month })} />
            </Suspense>
          </div>
          <div className="field">
            <label htmlFor={`${id}-zone`}>{t('reconcile.zone')}</label>
            <select id={`${id}-zone`} className="select" value={zone} onChange={(event) => choose({ zone: event.target.value })}>
              {[...new Set([...ZONES, zone])].map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </div>
          <div className="field">
            <span id={`${id}-file`}>{t('reconcile.file')}</span>
            {/* The browser's own button speaks the browser's language, not the page's. */}
            <input
              key={`${month} ${zone}`}
              ref={input}
              hidden
              type="file"
              accept=".csv,text/csv"
              onChange={(event) => upload(event.target.files?.[0])}
            />
            <div className="file">
              <Button
                id={`${id}-choose`}
                aria-labelledby={`${id}-file ${id}-choose`}
                aria-describedby={`${id}-hint`}
                onClick={() => input.current?.click()}
              >
                {t('reconcile.choose')}
              </Button>
              <span className="second cut">{chosen || t('reconcile.noFile')}</span>
            </div>
            <p id={`${id}-hint`} className="meta">
              {t('reconcile.fileHint')}
            </p>
          </div>
        </div>
        {large && (
          <p className="fault-text" role="alert">
            {t('reconcile.large')}
          </p>
        )}
        {compare.isError && <Wrong error={compare.error} />}
        {compare.data && (
          <p className="second" role="status">
            {t('reconcile.compared', { lines: String(compare.data.lines), ignored: String(compare.data.ignoredLines) })}
          </p>
        )}
        <Block query={query} height={240}>
          {() =>
            rows.length === 0 ? (
              <Empty text={t('reconcile.empty')} />
            ) : (
              <List key={`${month} ${zone} ${compare.submittedAt}`} rows={rows} compared={compare.data !== undefined} />
            )
          }
        </Block>
      </section>
    </>
  );
}

/** What is wrong with a file, by its lines. */
function Wrong({ error }: { error: unknown }) {
  const { t } = useTranslation('admin');
  const lines = error instanceof ApiError ? Object.entries(error.fields) : [];
  if (lines.length === 0) return <Fault error={error} />;
  return (
    <div role="alert">
      <ul className="reconcile-faults">
        {lines.map(([line, fault]) => (
          <li key={line}>{t('reconcile.line', { n: line.replace(/^line /, ''), fault })}</li>
        ))}
      </ul>
    </div>
  );
}

function List({ rows, compared }: { rows: Row[]; compared: boolean }) {
  const [page, setPage] = useState(1);
  return (
    <>
      <ul className="days">
        {rows.slice((page - 1) * SIZE, page * SIZE).map((row) => (
          <Line key={`${row.date} ${row.model} ${row.capability}`} of={row} compared={compared} />
        ))}
      </ul>
      <Pages page={page} total={rows.length} size={SIZE} onPage={setPage} />
    </>
  );
}

function Line({ of, compared }: { of: Row; compared: boolean }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const count = (n: number | null) => (n === null ? '—' : format.count(n));
  const signed = (n: number | null) => (n === null ? '—' : `${n > 0 ? '+' : n < 0 ? '−' : ''}${format.count(Math.abs(n))}`);
  // What the file does not tell stands by itself, and what nobody tells not at all.
  const part = (name: 'calls' | 'input' | 'output' | 'cached', [ours, theirs, difference]: Row['calls']) =>
    ours === null && theirs === null
      ? ''
      : compared && (theirs !== null || difference !== null)
        ? t('reconcile.beside', { name: t(`reconcile.${name}`), ours: count(ours), theirs: count(theirs), difference: signed(difference) })
        : t('reconcile.alone', { name: t(`reconcile.${name}`), ours: count(ours) });
  const why = [
    of.partial > 0 && t('reconcile.partial', { n: format.count(of.partial) }),
    of.absent > 0 && t('reconcile.absent', { n: format.count(of.absent) }),
    of.unpriced > 0 && t('reconcile.unpriced', { n: format.count(of.unpriced) }),
  ].filter(Boolean);
  return (
    <li>
      <strong className="number">{of.date}</strong>
      <span className="day-why">
        <strong>{of.model || '—'}</strong>
        {of.capability !== '' && of.capability !== of.model && <span className="meta"> · {of.capability}</span>}
        <span className="reconcile-figures number">
          {[part('calls', of.calls), part('input', of.input), part('output', of.output), part('cached', of.cached)]
            .filter(Boolean)
            .join(' · ')}
        </span>
        {of.cost.map(({ currency, ours, theirs, difference }) => (
          <span key={currency} className="reconcile-figures number">
            {compared
              ? t('reconcile.beside', {
                  name: currency,
                  ours: ours ?? '—',
                  theirs: theirs ?? '—',
                  difference: difference === null ? '—' : difference.startsWith('-') || difference === '0' ? difference : `+${difference}`,
                })
              : t('reconcile.alone', { name: currency, ours: ours ?? '—' })}
          </span>
        ))}
        {why.length > 0 && <span className="reconcile-figures second">{why.join(' · ')}</span>}
      </span>
    </li>
  );
}

/** Has the browser save a text under a name. */
function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
