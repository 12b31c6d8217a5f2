import '../ui/form/field.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { Block, Empty } from '../ui/page/Block';
import { useTellFault } from '../ui/page/faultText';
import { useAnchor } from '../ui/page/useScroll';
import { notify } from '../ui/page/notice';
import { SearchField } from '../ui/form/SearchField';
import { StatusTag, Tag } from '../ui/Tag';
import { capabilityQueries, useBind } from './queries';

/** From so many applications on they are searched; so many are shown at first. */
const SEARCHED_FROM = 8;
const MOST_ROWS = 20;

/** Which of the own applications may call the capability; the others are one click away from it. */
export function Applications({ capability }: { capability: Schemas['CapabilityFields'] }) {
  const { t } = useTranslation(['capabilities', 'common']);
  const query = useQuery(capabilityQueries.applications(capability.id));
  useAnchor('applications');
  return (
    <section id="applications" className="block" aria-label={t('applications.title')}>
      <div className="block-head">
        <h2>{t('applications.title')}</h2>
      </div>
      <Block query={query} height={132}>
        {(items) =>
          items.length === 0 ? (
            <Empty text={t('applications.empty')}>
              <Link className="quiet" data-edge to="/applications?new">
                {t('applications.create')}
              </Link>
            </Empty>
          ) : (
            <List capability={capability} items={items} />
          )
        }
      </Block>
    </section>
  );
}

function List({ capability, items }: { capability: Schemas['CapabilityFields']; items: readonly Schemas['Binding'][] }) {
  const { t } = useTranslation(['capabilities', 'common']);
  const [text, setText] = useState('');
  const [onlyBound, setOnlyBound] = useState(false);
  const [whole, setWhole] = useState(false);
  const wanted = text.trim().toLowerCase();
  const found = items.filter(({ name, bound }) => (bound || !onlyBound) && name.toLowerCase().includes(wanted));
  const rows = whole ? found : found.slice(0, MOST_ROWS);
  return (
    <>
      {items.length > SEARCHED_FROM && (
        <div className="filters" role="search">
          <SearchField label={t('applications.search')} value={text} onChange={setText} />
          <button type="button" className="quiet" data-edge aria-pressed={onlyBound} onClick={() => setOnlyBound(!onlyBound)}>
            {t('applications.onlyBound', { n: String(items.filter(({ bound }) => bound).length), all: String(items.length) })}
          </button>
        </div>
      )}
      {found.length === 0 ? <p className="second">{t('applications.none')}</p> : <Table capability={capability} items={rows} />}
      {rows.length < found.length && (
        <button type="button" className="quiet flush" onClick={() => setWhole(true)}>
          {t('applications.all', { n: String(found.length) })}
        </button>
      )}
    </>
  );
}

function Table({ capability, items }: { capability: Schemas['CapabilityFields']; items: readonly Schemas['Binding'][] }) {
  const { t } = useTranslation(['capabilities', 'common']);
  const tell = useTellFault();
  const bind = useBind(capability.id);
  const bindTo = ({ id, name }: Schemas['Binding']) =>
    bind.mutateAsync(id).then(() => notify('ok', t('applications.done', { name })), tell);
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col" className="name">
            {t('applications.name')}
          </th>
          <th scope="col">
            <span className="unseen">{t('applications.bound')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            <td className="name">
              <span className="bound-name">
                <Link className="cut" to={`/applications/${item.id}`} title={item.name}>
                  {item.name}
                </Link>
                {item.status === 'disabled' && <StatusTag status="disabled" />}
              </span>
            </td>
            <td className="right">
              {item.bound ? (
                <Tag kind="ok">{t('applications.bound')}</Tag>
              ) : capability.status === 'disabled' ? (
                '—'
              ) : (
                <button
                  type="button"
                  className="quiet"
                  data-edge
                  aria-label={t('applications.bindTo', { name: item.name })}
                  onClick={() => bindTo(item)}
                >
                  {t('applications.bind')}
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
