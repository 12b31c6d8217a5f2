import './figures.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Dated, Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { Completeness } from '../overview/Tiles';
import { late } from '../range/coverage';
import { dayOf, today } from '../range/days';
import { Block, BlockBones } from '../ui/page/Block';
import { Icon } from '../ui/Icon';
import { Tag } from '../ui/Tag';
import { CsvButton } from '../ui/table/CsvButton';
import { useTitle } from '../ui/page/useTitle';
import { Behind } from './Behind';
import { Causes } from './Causes';
import { failingNow, type Failing } from './failing';
import { HourLine } from './HourLine';
import { HoursTable } from './HoursTable';
import { CapabilityName, figuresOf } from './places';
import { figuresQueries, type CapabilityLine } from './queries';
import { UpstreamLinks } from './UpstreamLinks';

/** So many capabilities are told at once: where a provider is down, dozens fail. */
const MOST_BLOCKS = 6;
const MOST_OTHERS = 8;

/** What fails now, since when, whom it hits and why; when nothing does, the figures that show it. */
export function Component() {
  const { t } = useTranslation(['figures', 'common']);
  useTitle(t('health.title'));
  const day = today();
  const overview = useQuery(figuresQueries.overview({ start: day, end: day }, true));
  const capabilities = useQuery(figuresQueries.capabilities({ start: day, end: day }, true));
  const reading = capabilities.data === undefined && !capabilities.isError; // what is many and what is few is not known before
  return (
    <>
      <div className="page-head">
        <h1>{t('health.title')}</h1>
      </div>
      {overview.data && !reading ? (
        <Block query={overview} height={320}>
          {(data) => <Health data={data} lines={capabilities.data?.items ?? []} />}
        </Block>
      ) : overview.isError ? (
        <section className="block">
          <Block query={overview} height={320}>
            {() => null}
          </Block>
        </section>
      ) : (
        <>
          <BlockBones height={132} />
          <BlockBones height={240} />
        </>
      )}
    </>
  );
}

function Health({ data, lines }: { data: Dated<Schemas['FiguresOverview']>; lines: readonly CapabilityLine[] }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  const { until } = data.hours;
  const { failing, others } = failingNow(data.now.items, lines, until);
  const [whole, setWhole] = useState(false);
  const [allOthers, setAllOthers] = useState(false);
  const first = dayOf(Date.parse(until) - 2 * 3_600_000); // of the two hours that are told
  const search = `?start=${first}&end=${data.end}`;
  return (
    <>
      <section className="block" aria-label={t('health.now')}>
        <Verdict data={data} failing={failing} />
        <Behind coverage={data} />
        <HourLine hours={data.hours} />
        <div className="tiles-foot meta">
          <span>
            {t('health.today', {
              calls: format.count(data.calls),
              failures: format.count(data.failures),
              applications: format.count(data.calling.applicationCount),
              owners: format.count(data.calling.ownerCount),
            })}
          </span>
          <Completeness coverage={data} />
        </div>
      </section>
      {failing.slice(0, whole ? failing.length : MOST_BLOCKS).map((one) => (
        <FailingBlock key={one.model} of={one} until={until} search={search} />
      ))}
      {failing.length > MOST_BLOCKS && (
        <p className="block">
          <button type="button" className="quiet flush" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? t('common:metrics.fewer', { n: String(MOST_BLOCKS) }) : t('health.all', { n: format.count(failing.length) })}
          </button>
        </p>
      )}
      {others.length + data.now.other.failures > 0 && (
        <section className="block" aria-label={t('health.others')}>
          <div className="block-head">
            <h2>{t('health.others')}</h2>
            <CsvButton name="failures-last-hour" rows={others} />
          </div>
          <p className="second causes-about">{t('health.othersAbout')}</p>
          {others.length > 0 && (
            <Causes items={others.slice(0, allOthers ? others.length : MOST_OTHERS)} until={until} search={search} named />
          )}
          {others.length > MOST_OTHERS && (
            <button type="button" className="quiet flush" aria-expanded={allOthers} onClick={() => setAllOthers(!allOthers)}>
              {allOthers ? t('common:metrics.fewer', { n: String(MOST_OTHERS) }) : t('capability.more', { n: format.count(others.length) })}
            </button>
          )}
          {data.now.other.failures > 0 && (
            <p className="meta causes-rest">
              {t('health.rest', { reasons: format.count(data.now.other.reasons), n: format.count(data.now.other.failures) })}
            </p>
          )}
        </section>
      )}
      <HoursTable lines={lines} search={search} />
    </>
  );
}

/** One sentence: what fails, that nothing does, or that it cannot be known. */
function Verdict({ data, failing }: { data: Dated<Schemas['FiguresOverview']>; failing: readonly Failing[] }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  const { lastHour, hourBefore } = data.hours;
  const only = failing.length === 1 ? failing[0] : undefined;
  const say = (): ['ok' | 'warn' | 'failed', string] => {
    if (only) return ['failed', t('health.failingOne', { name: only.name || only.model || t('common:metrics.unspecified') })];
    if (failing.length > 0) return ['failed', t('health.failing', { n: format.count(failing.length) })];
    if (late(data)) return ['warn', t('health.unknown')];
    if (lastHour.calls > 0) return ['ok', lastHour.failures === 0 ? t('health.calm') : t('health.mild')];
    return hourBefore.calls > 0 ? ['warn', t('health.silent', { n: format.count(hourBefore.calls) })] : ['ok', t('health.idle')];
  };
  const [kind, sentence] = say();
  return (
    <p className="health-verdict" data-kind={kind} role="status">
      <Icon name={kind} size={24} />
      <strong>{sentence}</strong>
    </p>
  );
}

function FailingBlock({ of, until, search }: { of: Failing; until: string; search: string }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  const { line, failures, before, model } = of;
  const name = of.name || model || t('common:metrics.unspecified');
  return (
    <section className="block failing" aria-label={[of.name, model].filter(Boolean).join(', ') || name}>
      <div className="block-head">
        <h2>
          <CapabilityName model={model} name={of.name} search={search} />{' '}
          {line && (
            <Tag kind="failed">{t('health.share', { rate: format.failureRate(failures, Math.max(failures, line.lastHour.calls)) })}</Tag>
          )}
        </h2>
        {of.name !== '' && (
          <div className="row">
            <Link className="quiet" data-edge to={figuresOf(model, search)} aria-label={t('link.figuresOf', { name })}>
              {t('link.figures')}
            </Link>
            <UpstreamLinks id={model} name={name} />
          </div>
        )}
      </div>
      {line && (
        <p className="second">
          {t(line.hourBefore.calls === 0 ? 'health.ofNew' : 'health.of', {
            failures: format.count(failures),
            calls: format.count(line.lastHour.calls),
            before: format.count(before),
            callsBefore: format.count(line.hourBefore.calls),
          })}
        </p>
      )}
      <Causes items={of.reasons} until={until} search={search} />
    </section>
  );
}
