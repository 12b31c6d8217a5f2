import '../ui/form/field.css';
import './capabilities.css';
import { useRef } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { unrecorded } from '../range/coverage';
import { Block, Empty } from '../ui/page/Block';
import { composing } from '../ui/form/composing';
import { Icon } from '../ui/Icon';
import { useKeys } from '../ui/keys/useKeys';
import { useTitle } from '../ui/page/useTitle';
import { useSearch } from '../ui/table/useSearch';
import { useUrlText } from '../ui/table/useUrlText';
import { offersOf, type Offer } from './offers';
import { OfferTable } from './OfferTable';
import { capabilityQueries } from './queries';
import { sections } from './search';

/** What can be called, and what people choose it by: its price, and what the own applications saw of it. */
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
      <section className="block" aria-label={t('title')}>
        <Block query={capabilities} height={480}>
          {(items) =>
            items.length === 0 ? (
              <Empty text={t('empty')} />
            ) : (
              <Found items={items} groups={groups.data ?? []} text={text} onClear={() => setText('')} />
            )
          }
        </Block>
      </section>
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
  const [search, setSearch] = useSearch();
  const figures = useQuery(capabilityQueries.figures());
  const mine = search.get('mine') === '1';
  const known = figures.data !== undefined && !unrecorded(figures.data) ? figures.data.models : null;
  const found = sections(items, groups, text).flatMap((section) => offersOf(section, known));
  const isMine = ({ capability }: Offer) => capability.applicationCount > 0;
  const own = found.filter(isMine);
  const rows = mine ? own : found;
  return (
    <>
      <p className="unseen" role="status">
        {text === '' ? '' : t('found', { n: String(rows.length) })}
      </p>
      <div className="filters">
        <div className="choice" role="group" aria-label={t('mine.label')}>
          <button type="button" aria-pressed={!mine} onClick={() => setSearch({ mine: null })}>
            {t('mine.all', { n: String(found.length) })}
          </button>
          <button type="button" aria-pressed={mine} onClick={() => setSearch({ mine: '1' })}>
            {t('mine.mine', { n: String(own.length) })}
          </button>
        </div>
        {figures.isError && (
          <div className="bar offers-stale" data-kind="warn" role="status">
            {t(figures.data === undefined ? 'common:state.failed' : 'common:state.stale')}
            <button type="button" className="quiet" onClick={() => void figures.refetch()}>
              {t('common:action.retry')}
            </button>
          </div>
        )}
      </div>
      {rows.length > 0 ? (
        <OfferTable offers={rows} />
      ) : found.length === 0 ? (
        <Empty text={t('none', { text })}>
          <button type="button" className="quiet" data-edge onClick={onClear}>
            {t('clear')}
          </button>
        </Empty>
      ) : (
        <Empty text={t('mine.none')}>
          <button type="button" className="quiet" data-edge onClick={() => setSearch({ mine: null })}>
            {t('mine.show')}
          </button>
        </Empty>
      )}
    </>
  );
}
