import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Block } from '../../ui/page/Block';
import { useFormat } from '../../format/useFormat';
import { listed } from '../../tokens/meters';
import type { Suggestion } from './prices';
import { officeQueries } from '../queries';

/** What a public catalogue says such a model costs; a press fills the form with it, nothing more. */
export function Suggestions({ capability, model, onUse }: { capability: string; model: string; onUse: (one: Suggestion) => void }) {
  const { t } = useTranslation('admin');
  const known = useQuery(officeQueries.capabilities({ page: 1, groupId: '', status: '', q: capability }));
  const exists = known.data?.items.some(({ id }) => id === capability) === true;
  const query = useQuery({ ...officeQueries.suggestions(capability, model), enabled: exists });
  return (
    <section aria-label={t('prices.suggested.title')}>
      <h2>{t('prices.suggested.title')}</h2>
      {!exists ? (
        <p className="second">{t('prices.suggested.wait')}</p>
      ) : (
        <Block query={query} height={84}>
          {({ items, source }) =>
            items.length === 0 ? (
              <p className="second">{t('prices.suggested.none')}</p>
            ) : (
              <>
                <ul className="suggestions" tabIndex={0} aria-label={t('prices.suggested.title')}>
                  {items.map((one, n) => (
                    <Line key={n} one={one} onUse={() => onUse(one)} />
                  ))}
                </ul>
                <p className="meta">
                  {t('prices.suggested.source', { package: source.package, version: source.version, license: source.license })}
                </p>
              </>
            )
          }
        </Block>
      )}
    </section>
  );
}

function Line({ one, onUse }: { one: Suggestion; onUse: () => void }) {
  const { t } = useTranslation(['admin', 'capabilities']);
  const format = useFormat();
  const rates = (
    [
      ['input', one.input],
      ['cached', one.cached],
      ['cacheWrite', one.cacheWrite],
      ['output', one.output],
    ] as const
  ).filter(([, rate]) => rate !== null);
  const notes = [
    ...(one.fromBand === 0 ? [] : [t('prices.above', { n: format.count(one.fromBand) })]),
    ...(one.exact ? [] : [t('prices.suggested.similar')]),
    ...(one.from === null ? [] : [t('prices.suggested.since', { day: one.from })]),
    ...one.notes.map((note) => t(`prices.notes.${note}`)),
  ];
  return (
    <li>
      <span className="grow">
        <strong>{one.provider}</strong> <code>{one.model}</code>
        <span className="meta record-line">
          {[
            ...rates.map(([name, rate]) => `${t(`prices.${name}`)} ${rate}`),
            ...listed(one.amounts).map(({ meter, amount }) => `${t(`capabilities:meters.${meter}`)} ${amount}`),
          ].join(' · ')}{' '}
          {one.currency}
          {notes.length > 0 && ` · ${notes.join(' · ')}`}
        </span>
      </span>
      <button
        type="button"
        className="quiet"
        data-edge
        onClick={onUse}
        aria-label={t('prices.suggested.useOf', { provider: one.provider, model: one.model })}
      >
        {t('prices.suggested.use')}
      </button>
    </li>
  );
}
