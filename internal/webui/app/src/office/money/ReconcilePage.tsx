import '../../ui/form/field.css';
import '../office.css';
import { lazy, Suspense, useId, useRef, useState } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/error';
import { useFormat } from '../../format/useFormat';
import { today } from '../../range/days';
import { Block, Empty } from '../../ui/page/Block';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/page/Fault';
import { Pages } from '../../ui/table/Pages';
import { Cell } from '../../ui/table/Records';
import { useSearch } from '../../ui/table/useSearch';
import { Tag } from '../../ui/Tag';
import { saveFile } from '../../ui/table/saveCsv';
import { useTitle } from '../../ui/page/useTitle';
import { comparisonOf, COUNTS, differs, fileOf, invoiceQueries, rounded, rowsOf, totalOf, ZONES, type Row, type Sums } from './invoice';

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
  const compare = useMutation({ mutationFn: (file: File) => comparisonOf(month, zone, file), gcTime: 0 });
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
        <Button disabled={rows.length === 0} onClick={() => saveFile(`${month}-${zone.replaceAll('/', '-')}.csv`, fileOf(rows))}>
          {t('common:csv.download')}
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

/** Of a comparison the lines that differ come first, and the others when they are asked for. */
function List({ rows, compared }: { rows: Row[]; compared: boolean }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const [page, setPage] = useState(1);
  const [only, setOnly] = useState({ different: true, unexplained: false });
  const different = rows.filter(differs);
  const unexplained = rows.filter((row) => row.unexplained);
  const shown = !compared ? rows : only.unexplained ? unexplained : only.different ? different : rows;
  const choose = (change: Partial<typeof only>) => {
    setOnly({ ...only, ...change });
    setPage(1);
  };
  return (
    <>
      {compared && (
        <>
          <label className="check">
            <input type="checkbox" checked={only.different} onChange={(event) => choose({ different: event.target.checked })} />
            {t('reconcile.only', { n: format.count(different.length), all: format.count(rows.length) })}
          </label>
          <label className="check">
            <input type="checkbox" checked={only.unexplained} onChange={(event) => choose({ unexplained: event.target.checked })} />
            {t('reconcile.onlyUnexplained', { n: format.count(unexplained.length), all: format.count(rows.length) })}
          </label>
        </>
      )}
      {shown.length === 0 && <p className="second">{t(only.unexplained ? 'reconcile.explained' : 'reconcile.same')}</p>}
      <table className="table records late reconcile">
        <thead>
          <tr>
            <th>{t('reconcile.dayAndModel')}</th>
            {COUNTS.map((name) => (
              <th key={name} className="right">
                {t(`reconcile.${name}`)}
              </th>
            ))}
            <th className="right">{t('reconcile.cost')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.slice((page - 1) * SIZE, page * SIZE).map((row) => (
            <tr key={`${row.date} ${row.model} ${row.capability}`}>
              <td>
                <span className="number">{row.date}</span> <strong>{row.model || '—'}</strong>
                {row.capability !== '' && row.capability !== row.model && <span className="meta record-line">{row.capability}</span>}
                <Why of={row} />
                <Meters of={row} compared={compared} />
              </td>
              <Figures of={row} compared={compared} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>
              <strong>{t('reconcile.total')}</strong>{' '}
              <span className="meta">{t('reconcile.totalOf', { n: format.count(rows.length) })}</span>
              <Why of={totalOf(rows)} />
              <Meters of={totalOf(rows)} compared={compared} />
            </td>
            <Figures of={totalOf(rows)} compared={compared} />
          </tr>
        </tfoot>
      </table>
      <Pages page={page} total={shown.length} size={SIZE} onPage={setPage} />
    </>
  );
}

/** What a difference can come of. */
function Why({ of }: { of: Sums }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const why: string[] = of.why.map(({ reason, calls }) => t(`reconcile.reasons.${reason}`, { n: format.count(calls) }));
  if (why.length === 0 && !of.unexplained && differs(of)) why.push(t('reconcile.rounded'));
  return (
    <>
      {why.length > 0 && <span className="meta record-line">{why.join(' · ')}</span>}
      {of.unexplained && (
        <span className="record-line">
          <Tag kind="failed">{t('reconcile.unexplained')}</Tag>
        </span>
      )}
    </>
  );
}

/** What was used besides input and output. */
function Meters({ of, compared }: { of: Sums; compared: boolean }) {
  const { t } = useTranslation(['admin', 'capabilities']);
  const format = useFormat();
  return of.meters.map(({ meter, of: [ours, theirs, difference] }) => {
    const name = meter === 'cache_write' ? t('prices.cacheWrite') : t(`capabilities:meters.${meter}`);
    if (!compared || difference === null)
      return (
        <span key={meter} className="meta record-line">
          {name} {format.count(ours ?? theirs)}
        </span>
      );
    return (
      <span key={meter} className="meta record-line">
        {name} {difference === 0 ? '0' : <strong>{signed(difference, format.count(Math.abs(difference)))}</strong>}{' '}
        {t('reconcile.beside', { ours: format.count(ours), theirs: format.count(theirs) })}
      </span>
    );
  });
}

function Figures({ of, compared }: { of: Sums; compared: boolean }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  return (
    <>
      {COUNTS.map((name) => {
        const [ours, theirs, difference] = of[name];
        return (
          <Cell key={name} label={t(`reconcile.${name}`)} className="right number">
            {compared && (theirs !== null || difference !== null) ? (
              <Beside
                difference={difference === null ? '—' : signed(difference, format.count(Math.abs(difference)))}
                same={difference === 0}
                ours={format.count(ours)}
                theirs={format.count(theirs)}
              />
            ) : (
              format.count(ours)
            )}
          </Cell>
        );
      })}
      <Cell label={t('reconcile.cost')} className="right number">
        {of.cost.length === 0 && '—'}
        {of.cost.map(({ currency, ours, theirs, difference }) => (
          <span
            key={currency}
            className="record-line"
            title={[ours, theirs, difference].map((amount) => `${currency} ${amount ?? '—'}`).join(' · ')}
          >
            {compared ? (
              <Beside
                difference={`${currency} ${difference === null ? '—' : `${Number(difference) > 0 ? '+' : ''}${rounded(difference)}`}`}
                same={difference !== null && Number(difference) === 0}
                ours={rounded(ours)}
                theirs={rounded(theirs)}
              />
            ) : (
              `${currency} ${rounded(ours)}`
            )}
          </span>
        ))}
      </Cell>
    </>
  );
}

const signed = (n: number, text: string): string => `${n > 0 ? '+' : n < 0 ? '−' : ''}${text}`;

/** The difference, and under it what it is of. */
function Beside({ difference, same, ours, theirs }: { difference: string; same: boolean; ours: string; theirs: string }) {
  const { t } = useTranslation('admin');
  return (
    <>
      {same ? <span className="second">{difference}</span> : <strong>{difference}</strong>}
      <span className="meta record-line">{t('reconcile.beside', { ours, theirs })}</span>
    </>
  );
}
