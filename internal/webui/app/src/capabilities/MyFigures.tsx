import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { callsPath } from '../calls/filter';
import { Tiles } from '../overview/Tiles';
import { Money } from '../tokens/Money';
import { Block } from '../ui/page/Block';
import { capabilityQueries } from './queries';

const none = { calls: 0, successes: 0, failures: 0, avgDurationMs: null, p50Ms: null, p95Ms: null, p99Ms: null };

/** What the own applications called of a capability in the last 7 days, with the ways to these calls. */
export function MyFigures({ id }: { id: string }) {
  const { t } = useTranslation(['capabilities', 'common']);
  const query = useQuery(capabilityQueries.figures());
  return (
    <section className="block" aria-label={t('figures.title')}>
      <div className="block-head">
        <h2>{t('figures.title')}</h2>
        <Link className="quiet" to={callsPath(null, '', { model: id })}>
          {t('figures.list')}
        </Link>
        <Link className="quiet" to={`/explore?${new URLSearchParams({ by: 'application', model: id })}`}>
          {t('figures.explore')}
        </Link>
      </div>
      <Block query={query} height={124}>
        {(data) => {
          const usage = data.models.find(({ model }) => model === id);
          return (
            <>
              <Tiles
                figures={usage ?? none}
                coverage={data}
                comparison={null}
                calls={callsPath(null, '', { model: id })}
                failures={callsPath(null, '', { model: id, result: 'failure' })}
              />
              {usage && (
                <p className="meta">
                  {t('common:tokens.cost')} <Money cost={usage.cost} />
                </p>
              )}
            </>
          );
        }}
      </Block>
    </section>
  );
}
