import '../ui/form/field.css';
import './capabilities.css';
import { useRef } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { Block, Empty } from '../ui/page/Block';
import { composing } from '../ui/form/composing';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { useKeys } from '../ui/keys/useKeys';
import { useTitle } from '../ui/page/useTitle';
import { useUrlText } from '../ui/table/useUrlText';
import { capabilityQueries } from './queries';
import { sections } from './search';

/** What can be called, by group in the catalog's order. */
export function Component() {
  const { t } = useTranslation(['capabilities', 'common']);
  useTitle(t('title'));
  const [text, setText] = useUrlText('q');
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => field.current?.focus() });
  const capabilities = useQuery(capabilityQueries.list());
  const groups = useQuery(capabilityQueries.groups());
  return (
    <>
      <div className="page-head">
        <h1>{t('title')}</h1>
        <div className="search">
          <Icon name="search" />
          <input
            ref={field}
            className="input"
            type="search"
            aria-label={t('search')}
            placeholder={t('search')}
            title={t('searchKey')}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape' && !composing(event.nativeEvent)) {
                setText('');
                field.current?.blur();
              }
            }}
          />
        </div>
      </div>
      {capabilities.data ? (
        <Block query={capabilities} height={320}>
          {(items) => <Found items={items} groups={groups.data ?? []} text={text} onClear={() => setText('')} />}
        </Block>
      ) : (
        <section className="block">
          <Block query={capabilities} height={320}>
            {() => null}
          </Block>
        </section>
      )}
    </>
  );
}

function Found({
  items,
  groups,
  text,
  onClear,
}: {
  items: Schemas['Capability'][];
  groups: Schemas['Group'][];
  text: string;
  onClear: () => void;
}) {
  const { t } = useTranslation(['capabilities', 'common']);
  const found = sections(items, groups, text);
  if (items.length === 0)
    return (
      <section className="block">
        <Empty text={t('empty')} />
      </section>
    );
  const count = found.reduce((sum, section) => sum + section.items.length, 0);
  return (
    <>
      <p className="unseen" role="status">
        {text === '' ? '' : t('found', { n: String(count) })}
      </p>
      {found.length === 0 && (
        <section className="block">
          <Empty text={t('none', { text })}>
            <button type="button" className="quiet" data-edge onClick={onClear}>
              {t('clear')}
            </button>
          </Empty>
        </section>
      )}
      {found.map((section) => (
        <section key={section.id} className="block" aria-label={section.name}>
          <div className="block-head">
            <h2>{section.name}</h2>
          </div>
          <ul className="capability-list">
            {section.items.map(({ id, name, description }) => (
              <li key={id}>
                <div>
                  <Link to={`/capabilities/${encodeURIComponent(id)}`}>{name}</Link>
                  <div className="capability-id">
                    <code>{id}</code>
                    <Copy bare text={id} label={t('copyId', { id })} />
                  </div>
                </div>
                <p className="second">{description}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
