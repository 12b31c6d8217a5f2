import '../../ui/form/field.css';
import '../office.css';
import './ceilings.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../format/useFormat';
import { LIMITS } from '../../limits/limits';
import { AskButton } from '../../ui/AskButton';
import { Empty, TableBones } from '../../ui/page/Block';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { notify } from '../../ui/page/notice';
import { Cell } from '../../ui/table/Records';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { UrlSearch } from '../../ui/form/SearchField';
import { usePage } from '../../ui/table/usePage';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { CeilingForm } from './CeilingForm';
import { nameOf, targetOf } from './ceilings';
import { CEILINGS_SIZE, officeQueries, type Ceiling, lists, wholeOf } from '../queries';
import { usePutCeiling } from '../writes';

const scopes = ['all', 'owner', 'application'] as const;

/** The ceilings of what applications may use. Page and filter stand in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('limits.title'));
  const [page, setPage] = usePage();
  const [search, setSearch] = useSearch();
  const scope = scopes.find((one) => one === search.get('scope')) ?? '';
  const q = search.get('q') ?? '';
  const query = useQuery(officeQueries.ceilings({ page, scope, q }));
  const [form, setForm] = useState<{ ceiling: Ceiling | null } | null>(null);
  return (
    <>
      <div className="page-head">
        <h1>{t('limits.title')}</h1>
        {!form && (
          <Button kind="primary" onClick={() => setForm({ ceiling: null })}>
            <Icon name="plus" />
            {t('limits.add')}
          </Button>
        )}
      </div>
      {form && <CeilingForm key={form.ceiling?.id ?? ''} ceiling={form.ceiling} onClose={() => setForm(null)} />}
      <section className="block" aria-label={t('limits.title')}>
        <p className="second ceilings-about">{t('limits.about')}</p>
        <Filters scope={scope} onScope={(one) => setSearch({ scope: one, page: null })} />
        <PagedBlock
          query={query}
          height={240}
          bones={<TableBones roomy className="records late ceilings" head={<Columns />} rows={4} columns={7} />}
          page={page}
          size={CEILINGS_SIZE}
          onPage={setPage}
          csv={{ name: 'limits', rows: wholeOf(lists.ceilings, { scope, q }) }}
          empty={<Empty text={t(scope === '' && q === '' ? 'limits.empty' : 'limits.none')} />}
        >
          {({ items }) => <Table items={items} onEdit={(ceiling) => setForm({ ceiling })} />}
        </PagedBlock>
      </section>
    </>
  );
}

function Filters({ scope, onScope }: { scope: string; onScope: (scope: string) => void }) {
  const { t } = useTranslation('admin');
  return (
    <div className="filters" role="search">
      <UrlSearch label={t('limits.search')} />
      <select className="select" aria-label={t('limits.scope')} value={scope} onChange={(event) => onScope(event.target.value)}>
        <option value="">{t('limits.everyScope')}</option>
        {scopes.map((one) => (
          <option key={one} value={one}>
            {t(`limits.scopes.${one}`)}
          </option>
        ))}
      </select>
    </div>
  );
}

function Columns() {
  const { t } = useTranslation(['admin', 'common']);
  return (
    <thead>
      <tr>
        <th scope="col">{t('limits.scope')}</th>
        {LIMITS.map((name) => (
          <th key={name} scope="col" className="right">
            {t(`common:limits.${name}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('limits.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Table({ items, onEdit }: { items: readonly Ceiling[]; onEdit: (ceiling: Ceiling) => void }) {
  return (
    <table className="table records late ceilings">
      <Columns />
      <tbody>
        {items.map((ceiling) => (
          <Row key={ceiling.id} ceiling={ceiling} onEdit={() => onEdit(ceiling)} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ ceiling, onEdit }: { ceiling: Ceiling; onEdit: () => void }) {
  const { t } = useTranslation(['admin', 'common']);
  const format = useFormat();
  const name = nameOf(ceiling) ?? t('limits.scopes.all');
  return (
    <tr>
      <td>
        <strong>{name}</strong>
        {ceiling.scope === 'application' && (
          <span className="meta record-line" title={ceiling.applicationId ?? ''}>
            {t('limits.ofOwner', { owner: ceiling.ownerEmail ?? '' })}
          </span>
        )}
        <span className="meta record-line" title={format.exactTime(ceiling.updatedAt)}>
          {t('limits.by', { by: ceiling.updatedBy, at: format.time(ceiling.updatedAt) })}
        </span>
      </td>
      {LIMITS.map((limit) => (
        <Cell key={limit} label={t(`common:limits.${limit}`)} className="right number">
          {format.count(ceiling.limits[limit])}
        </Cell>
      ))}
      <td>
        <div className="record-actions">
          <button type="button" className="quiet" data-edge onClick={onEdit} aria-label={t('limits.editOf', { name })}>
            {t('limits.edit')}
          </button>
          <Remove ceiling={ceiling} name={name} />
        </div>
      </td>
    </tr>
  );
}

function Remove({ ceiling, name }: { ceiling: Ceiling; name: string }) {
  const { t } = useTranslation('admin');
  const { mutateAsync } = usePutCeiling();
  const run = async () => {
    await mutateAsync({ body: targetOf(ceiling), updatedAt: ceiling.updatedAt });
    notify('ok', t('limits.removed', { name }));
  };
  return (
    <AskButton
      of={t('limits.removeOf', { name })}
      title={t('limits.ask', { name })}
      text={t('limits.askText')}
      action={t('limits.remove')}
      run={run}
    />
  );
}
