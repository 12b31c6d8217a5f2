import './figures.css';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { SortHead } from '../ui/table/SortHead';
import { useSearch } from '../ui/table/useSearch';
import type { Sort } from './queries';

/** The range that was asked for, and the first day of it that can be told. */
interface Told {
  start: string;
  end: string;
  upstreamsFrom: string;
}

/** What calls went to. */
export function UpstreamsTable({
  items,
  range,
  sort,
  firstByte,
}: {
  items: readonly Schemas['UpstreamRange'][];
  range: Told;
  sort?: Sort;
  firstByte?: Schemas['FirstByte'];
}) {
  const { t } = useTranslation(['figures', 'common']);
  const [, setSearch] = useSearch();
  const told = range.upstreamsFrom <= range.end;
  const head = (by: Sort, label: string, room = '') =>
    sort === undefined ? (
      <th scope="col" className={`right ${room}`}>
        {label}
      </th>
    ) : (
      <SortHead
        className={`right ${room}`}
        sorted={sort === by ? 'descending' : undefined}
        onSort={() => setSearch({ page: null, sort: by === 'calls' ? null : by })}
      >
        {label}
      </SortHead>
    );
  return (
    <>
      {range.upstreamsFrom > range.start && (
        <p className="second causes-about">{told ? t('upstreams.from', { day: range.upstreamsFrom }) : t('upstreams.none')}</p>
      )}
      {told && firstByte && <FirstByte of={firstByte} />}
      {items.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col" className="name">
                {t('upstreams.upstream')}
              </th>
              {head('calls', t('common:metrics.calls'))}
              {head('failures', t('common:metrics.failures'))}
              {head('failureRate', t('common:metrics.failureRate'), 'wide')}
              <th scope="col" className="right wider">
                {t('upstreams.failedOver')}
              </th>
              <th scope="col" className="right roomy">
                {t('common:metrics.p50')}
              </th>
              <th scope="col" className="right wide">
                {t('common:metrics.p95')}
              </th>
              <th scope="col" className="right wider">
                {t('common:metrics.p99')}
              </th>
              <th scope="col" className="right roomy">
                {t('common:chart.firstByte')} {t('common:metrics.p95')}
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((one) => (
              <Row key={one.upstreamId ?? ''} of={one} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Row({ of }: { of: Schemas['UpstreamRange'] }) {
  const format = useFormat();
  return (
    <tr>
      <td className="name">
        <UpstreamName of={of} />
      </td>
      <td className="right">{format.count(of.calls)}</td>
      <td className="right">{format.count(of.failures)}</td>
      <td className="right wide">{format.failureRate(of.failures, of.calls)}</td>
      <td className="right wider">{format.count(of.failedOver)}</td>
      <td className="right roomy">{format.duration(of.p50Ms)}</td>
      <td className="right wide">{format.duration(of.p95Ms)}</td>
      <td className="right wider">{format.duration(of.p99Ms)}</td>
      <td className="right roomy">{format.duration(of.firstByte.p95Ms)}</td>
    </tr>
  );
}

function UpstreamName({ of: { upstreamId, name } }: { of: Schemas['UpstreamRange'] }) {
  const { t } = useTranslation('figures');
  if (upstreamId === null)
    return (
      <span className="own-words" title={t('upstreams.ownAbout')}>
        {t('upstreams.own')}
      </span>
    );
  if (name === null) return <span title={upstreamId}>{upstreamId}</span>; // deleted
  return (
    <Link to={`/admin/upstreams#upstream-${upstreamId}`} title={`${name} (${upstreamId})`}>
      {name}
    </Link>
  );
}

/** How long it took until the first byte of answers. */
function FirstByte({ of }: { of: Schemas['FirstByte'] }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  return (
    <p className="first-byte">
      <span className="second">{t('common:chart.firstByte')}</span>
      {(
        [
          [50, of.p50Ms],
          [95, of.p95Ms],
          [99, of.p99Ms],
        ] as const
      ).map(([n, ms]) => (
        <span key={n} className="number" title={t('common:metrics.percentile', { n: String(n) })}>
          p{n} {format.duration(ms)}
        </span>
      ))}
      <span className="meta">{t('upstreams.answered', { n: format.count(of.calls) })}</span>
    </p>
  );
}
