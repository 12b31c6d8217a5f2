import '../ui/form/field.css';
import './capabilities.css';
import { lazy, Suspense } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type { Schemas } from '../api/client';
import { withWords } from '../locale/locale';
import { Based } from '../session/Base';
import { Block, Bones } from '../ui/page/Block';
import { Copy } from '../ui/Copy';
import { Crumb } from '../ui/page/Crumb';
import { Icon } from '../ui/Icon';
import { StatusTag } from '../ui/Tag';
import { useSearch } from '../ui/table/useSearch';
import { useTitle } from '../ui/page/useTitle';
import { Applications } from './Applications';
import { MyFigures } from './MyFigures';
import { Prices } from './Prices';
import { capabilityQueries } from './queries';

const TryIt = lazy(() => withWords('playground', import('../playground/TryIt')));

/** One capability: how it is called, from which of the own applications, and a try. */
export function Component() {
  const { t } = useTranslation(['capabilities', 'common']);
  const id = useParams()['id']!;
  const query = useQuery(capabilityQueries.get(id));
  useTitle(query.data?.name ?? t('title'));
  return (
    <>
      <Crumb to="/capabilities">{t('back')}</Crumb>
      {query.data ? (
        <Block query={query} height={400}>
          {(capability) => <Capability key={id} capability={capability} />}
        </Block>
      ) : (
        <section className="block">
          {query.isError && <h1>{t('title')}</h1>}
          <Block query={query} height={400}>
            {() => null}
          </Block>
        </section>
      )}
    </>
  );
}

function Capability({ capability }: { capability: Schemas['CapabilityDetails'] }) {
  const { t } = useTranslation(['capabilities', 'common']);
  const [search, setSearch] = useSearch();
  const enabled = capability.status === 'enabled';
  const trying = enabled && search.get('tab') === 'try';
  const open = (tab: 'facts' | 'try') => setSearch({ tab: tab === 'try' ? tab : null });
  return (
    <>
      <div className="page-head">
        <h1>
          {capability.name} <StatusTag status={capability.status} />
        </h1>
      </div>
      {!enabled && (
        <div className="bar" data-kind="warn" role="status">
          <Icon name="warn" />
          {t('disabled')}
        </div>
      )}
      {enabled && (
        <div className="choice views" role="group" aria-label={t('tabs.label')}>
          <button type="button" aria-pressed={!trying} onClick={() => open('facts')}>
            {t('tabs.facts')}
          </button>
          <button type="button" aria-pressed={trying} onClick={() => open('try')}>
            {t('tabs.try')}
          </button>
        </div>
      )}
      {trying ? (
        <Suspense
          fallback={
            <section className="block">
              <Bones height={480} />
            </section>
          }
        >
          <TryIt capability={capability} />
        </Suspense>
      ) : (
        <>
          <Based height={246}>{(base) => <Facts capability={capability} base={base} />}</Based>
          <MyFigures id={capability.id} />
          <Prices {...capability} />
          <Applications capability={capability} />
        </>
      )}
    </>
  );
}

function Facts({ capability, base: origin }: { capability: Schemas['CapabilityFields']; base: string }) {
  const { id, groupId, description, upstreamModel, defaultPath } = capability;
  const { t } = useTranslation(['capabilities', 'common']);
  const { data: groups } = useQuery(capabilityQueries.groups());
  const base = `${origin}/gateway`;
  const address = `${base}${defaultPath}?model=${encodeURIComponent(id)}`;
  const code = (text: string) => (
    <>
      <code>{text}</code>
      <Copy bare text={text} label={`${t('common:action.copy')} ${text}`} />
    </>
  );
  return (
    <section className="block" aria-label={t('facts.title')}>
      <dl className="facts">
        <dt>{t('id')}</dt>
        <dd>{code(id)}</dd>
        <dt>{t('facts.group')}</dt>
        <dd>{groups?.find((group) => group.id === groupId)?.name ?? groupId}</dd>
        {description !== '' && (
          <>
            <dt>{t('facts.description')}</dt>
            <dd>{description}</dd>
          </>
        )}
        <dt>{t('facts.base')}</dt>
        <dd>{code(base)}</dd>
        <dt>{t('facts.path')}</dt>
        <dd>{defaultPath === '' ? <span className="second">{t('facts.any')}</span> : code(defaultPath)}</dd>
        <dt>{t('facts.address')}</dt>
        <dd>{code(address)}</dd>
        <dt>{t('facts.model')}</dt>
        <dd>{upstreamModel === '' ? <span className="second">{t('facts.any')}</span> : code(upstreamModel)}</dd>
      </dl>
    </section>
  );
}
