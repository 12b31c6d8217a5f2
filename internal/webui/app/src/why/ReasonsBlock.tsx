import './why.css';
import { memo, useEffect, useRef } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import { callsPath } from '../calls/filter';
import { useReasonText } from '../calls/useReasonText';
import { useFormat } from '../format/useFormat';
import { whileLeaving, type RangeState } from '../range/useRange';
import { Block } from '../ui/page/Block';
import { useSearch } from '../ui/table/useSearch';
import { CsvButton } from '../ui/table/CsvButton';
import { useAnchor } from '../ui/page/useScroll';
import { reasonOf, whyQueries, type Reason } from './queries';

/** The name of this block in a URL's hash; `why` in its query is the capability whose failures alone are told. */
export const WHY = 'why';

/**
 * Why calls failed in the range, the most frequent reasons first; each row leads to exactly its calls. Without an
 * application it is of all own ones.
 */
export default function ReasonsBlock({
  applicationId,
  state,
  ranged,
}: {
  applicationId: string | null;
  state: RangeState;
  /** The query that names the range. */
  ranged: string;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const [search, setSearch] = useSearch();
  const model = search.get(WHY);
  const query = useQuery(whyQueries.reasons(applicationId, state.range, state.holdsToday, model));
  const place = useRef<HTMLElement>(null);
  useAnchor(WHY);
  const { hash, key } = useLocation();
  useEffect(() => {
    if (hash === `#${WHY}`) place.current?.focus({ preventScroll: true });
  }, [hash, key]);
  return (
    <section ref={place} id={WHY} tabIndex={-1} className="block why" aria-label={t('why.title')}>
      <div className="block-head">
        <h2>{t('why.title')}</h2>
        {model !== null && (
          <button type="button" className="quiet" data-edge onClick={() => setSearch({ [WHY]: null }, { replace: true })}>
            {t('why.onlyModel', { model: model || t('common:metrics.unspecified') })} ✕
          </button>
        )}
        {query.data && query.data.failures > 0 && (
          <CsvButton
            name="failures"
            period={state.range}
            rows={query.data.other.failures > 0 ? [...query.data.items, query.data.other] : query.data.items}
          />
        )}
      </div>
      <Block query={query} height={176}>
        {({ items, other, failures }) =>
          failures === 0 ? (
            <p className="second">{t('why.none')}</p>
          ) : (
            <>
              <Reasons items={items} failures={failures} applicationId={applicationId} ranged={ranged} leaving={query.isPlaceholderData} />
              {other.failures > 0 && (
                <p className="meta why-rest">{t('why.rest', { reasons: String(other.reasons), n: String(other.failures) })}</p>
              )}
            </>
          )
        }
      </Block>
    </section>
  );
}

/** All applications in the range that a URL carries, with most failures first. */
function worstFirst(range: string): string {
  const search = new URLSearchParams(range);
  search.set('sort', 'failures');
  return `/applications?${search}`;
}

interface Of {
  failures: number;
  applicationId: string | null;
  ranged: string;
}

const Reasons = memo(AllReasons, whileLeaving);

function AllReasons({ items, failures, applicationId, ranged }: Of & { items: readonly Reason[]; leaving: boolean }) {
  const { t } = useTranslation(['calls', 'common']);
  const all = applicationId === null;
  return (
    <table className="table why-table">
      <caption className="unseen">{t('why.title')}</caption>
      <thead>
        <tr>
          <th scope="col" className="name">
            {t('fact.reason')}
          </th>
          <th scope="col" className="why-model wide">
            {t('common:nav.capabilities')}
          </th>
          {all && (
            <th scope="col" className="why-model wide">
              {t('why.most')}
            </th>
          )}
          <th scope="col" className="right">
            {t('common:metrics.failures')}
          </th>
          <th scope="col" className="right wide">
            {t('common:metrics.share')}
          </th>
          <th scope="col" className="right wider">
            {t('why.last')}
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <Row
            key={[item.type, item.code, item.upstreamStatus, item.model].join(' ')}
            item={item}
            failures={failures}
            applicationId={applicationId}
            ranged={ranged}
          />
        ))}
      </tbody>
    </table>
  );
}

function Row({ item, failures, applicationId, ranged }: Of & { item: Reason }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const words = useReasonText();
  const { type, model, name, upstreamStatus } = item;
  const to = (id: string | null) =>
    callsPath(id, ranged, { model, result: 'failure', reason: reasonOf(item), upstreamStatus: upstreamStatus ?? 0 });
  const top = 'topApplication' in item ? item.topApplication : null;
  const capability = model === '' ? t('common:metrics.unspecified') : name || model;
  const linked = (text: string) => <Link to={to(applicationId)}>{text}</Link>;
  return (
    <tr>
      <td className="name" title={type === null ? undefined : `${t(`type.${type}`)} · ${item.code}`}>
        {linked(words(item))}
        <span className="meta narrow">
          {capability}
          {top && ' · '}
          {top && <Link to={to(top.id)}>{top.name}</Link>}
        </span>
      </td>
      <td className="why-model cut wide" title={model}>
        {capability}
      </td>
      {top && (
        <td className="why-model cut wide">
          <Link to={to(top.id)} title={top.name}>
            {top.name}
          </Link>
          {'applicationCount' in item && item.applicationCount > 1 && (
            <>
              {' '}
              <Link className="meta number" to={worstFirst(ranged)}>
                {t('why.of', { n: format.count(top.failures), apps: format.count(item.applicationCount) })}
              </Link>
            </>
          )}
        </td>
      )}
      <td className="right">{linked(format.count(item.failures))}</td>
      <td className="right wide">{`${((item.failures / failures) * 100).toFixed(1)}%`}</td>
      <td className="right wider" title={format.exactTime(item.lastSeen)}>
        {format.time(item.lastSeen)}
      </td>
    </tr>
  );
}
