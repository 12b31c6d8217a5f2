import '../../ui/form/field.css';
import '../../limits/limits.css';
import '../../budgets/budgets.css';
import { useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { BudgetActions } from '../../budgets/BudgetActions';
import { BudgetItem } from '../../budgets/BudgetItem';
import type { Budget } from '../../budgets/budgets';
import { OverrideForm } from '../../budgets/OverrideForm';
import { useFormat } from '../../format/useFormat';
import { UrlSearch } from '../../ui/form/SearchField';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { BlockBones, Bones, Empty } from '../../ui/page/Block';
import { notify } from '../../ui/page/notice';
import { useTitle } from '../../ui/page/useTitle';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { usePage } from '../../ui/table/usePage';
import { useSearch } from '../../ui/table/useSearch';
import { officeQueries, wholeOf } from '../queries';
import { BudgetsForm } from './BudgetsForm';
import { budgetLists, BUDGETS_SIZE, officeBudgetQueries, useEndRaise, useRaise, type Aim } from './budgetQueries';
import { Uncovered } from './Uncovered';

const views = ['all', 'over', 'near', 'uncovered'] as const;
const scopes = ['application', 'key', 'owner', 'capability'] as const;
type View = (typeof views)[number];

/** Where no price says another. */
const USUAL_CURRENCY = 'USD';

type Opened = { aim: Aim | null; currency?: string | undefined } | { raise: Budget } | null;

/** The budgets of everyone. View, page and filter stand in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'budgets']);
  useTitle(t('budgets.title'));
  const [page, setPage] = usePage();
  const [search, setSearch] = useSearch();
  const view = views.find((one) => one === search.get('view')) ?? 'all';
  const [form, setForm] = useState<Opened>(null);
  const opener = useRef<Element>(null);
  const open = (next: Opened) => {
    opener.current = document.activeElement;
    setForm(next);
    window.scrollTo(0, 0);
  };
  const close = () => {
    setForm(null);
    requestAnimationFrame(() => opener.current instanceof HTMLElement && opener.current.focus());
  };
  return (
    <>
      <div className="page-head">
        <h1>{t('budgets.title')}</h1>
        {!form && (
          <Button kind="primary" onClick={() => open({ aim: null })}>
            <Icon name="plus" />
            {t('budgets.add')}
          </Button>
        )}
      </div>
      {form && 'aim' in form && <Known key={form.aim?.target ?? ''} aim={form.aim} spent={form.currency} onClose={close} />}
      {form && 'raise' in form && <Raise key={form.raise.id} of={form.raise} onClose={close} />}
      <section className="block" aria-label={t('budgets.title')}>
        <p className="second limits-about">{t('budgets.about')}</p>
        <div className="filters">
          <div className="choice" role="group" aria-label={t('budgets.view')}>
            {views.map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === view}
                onClick={() => setSearch({ view: one === 'all' ? null : one, page: null })}
              >
                {t(`budgets.views.${one}`)}
              </button>
            ))}
          </div>
        </div>
        {view === 'uncovered' ? (
          <Uncovered page={page} onPage={setPage} onCover={(target, currency) => open({ aim: { scope: 'owner', target }, currency })} />
        ) : (
          <List view={view} page={page} onPage={setPage} onOpen={open} />
        )}
      </section>
    </>
  );
}

/** The form once it is known what there is, and in which currency prices are; `spent` is the one in which something was spent. */
function Known({ aim, spent, onClose }: { aim: Aim | null; spent: string | undefined; onClose: () => void }) {
  const prices = useQuery(officeQueries.prices());
  const there = useQuery({ ...officeBudgetQueries.of(aim ?? { scope: 'owner', target: '' }), enabled: aim !== null, gcTime: 0 });
  if (prices.isPending || (aim && there.isFetching && !there.isFetchedAfterMount)) return <BlockBones height={220} />;
  const budgets = there.data ?? [];
  const currency = budgets[0]?.currency ?? spent ?? prices.data?.[0]?.currency ?? USUAL_CURRENCY;
  return <BudgetsForm aim={aim} budgets={budgets} currency={currency} onClose={onClose} />;
}

function Raise({ of, onClose }: { of: Budget; onClose: () => void }) {
  const { t } = useTranslation('budgets');
  const { mutateAsync, error } = useRaise();
  const name = useName()(of);
  return (
    <section className="block" aria-label={t('raiseOf', { name })}>
      <OverrideForm
        of={of}
        name={name}
        error={error}
        onSubmit={(draft) =>
          mutateAsync(
            { id: of.id, draft },
            {
              onSuccess: () => {
                notify('ok', t('raisedNow', { name }));
                onClose();
              },
            },
          )
        }
        onClose={onClose}
      />
    </section>
  );
}

/** Whose a budget is and of which period, in words. */
function useName(): (of: Budget) => string {
  const { t } = useTranslation('budgets');
  return (of) => t(`named.${of.period}`, { name: whose(of) });
}

const whose = ({ scope, ownerEmail, capabilityName, capabilityId, applicationName }: Budget): string =>
  (scope === 'owner' ? ownerEmail : scope === 'capability' ? capabilityName || capabilityId : applicationName) ?? '';

function List({
  view,
  page,
  onPage,
  onOpen,
}: {
  view: Exclude<View, 'uncovered'>;
  page: number;
  onPage: (page: number) => void;
  onOpen: (form: Opened) => void;
}) {
  const { t } = useTranslation('admin');
  const [search, setSearch] = useSearch();
  const scope = scopes.find((one) => one === search.get('scope')) ?? '';
  const q = search.get('q') ?? '';
  const query = useQuery(officeBudgetQueries.list({ page, scope, q, state: view === 'all' ? '' : view }));
  return (
    <>
      <div className="filters" role="search">
        <UrlSearch label={t('budgets.search')} />
        <select
          className="select"
          aria-label={t('budgets.scope')}
          value={scope}
          onChange={(event) => setSearch({ scope: event.target.value, page: null })}
        >
          <option value="">{t('budgets.everyScope')}</option>
          {scopes.map((one) => (
            <option key={one} value={one}>
              {t(`budgets.scopes.${one}`)}
            </option>
          ))}
        </select>
      </div>
      <PagedBlock
        query={query}
        height={240}
        bones={<Bones height={240} />}
        page={page}
        size={BUDGETS_SIZE}
        onPage={onPage}
        csv={{ name: 'budgets', rows: wholeOf(budgetLists.all, { scope, q, state: view === 'all' ? '' : view }) }}
        empty={<Empty text={t(view === 'all' && scope === '' && q === '' ? 'budgets.empty' : 'budgets.none')} />}
      >
        {({ items }) => (
          <ul className="limit-list">
            {items.map((budget) => (
              <Item key={budget.id} of={budget} onOpen={onOpen} />
            ))}
          </ul>
        )}
      </PagedBlock>
    </>
  );
}

function Item({ of: budget, onOpen }: { of: Budget; onOpen: (form: Opened) => void }) {
  const { t } = useTranslation(['admin', 'budgets']);
  const format = useFormat();
  const { mutateAsync } = useEndRaise();
  const { scope, ownerEmail, capabilityId, keyName } = budget;
  const name = useName()(budget);
  const target = scope === 'owner' ? ownerEmail : scope === 'capability' ? capabilityId : null;
  const more =
    scope === 'capability'
      ? t('budgets.everyone')
      : scope === 'owner'
        ? null
        : `${scope === 'key' ? `${t('budgets:ofKey', { name: keyName || t('budgets:firstKey') })} · ` : ''}${t('budgets.of', { owner: ownerEmail ?? '' })}`;
  return (
    <BudgetItem of={budget} name={<strong>{whose(budget)}</strong>}>
      {more !== null && <p className="meta budget-raised">{more}</p>}
      <p className="meta budget-raised" title={format.exactTime(budget.updatedAt)}>
        {t('budgets.by', { by: budget.updatedBy, at: format.time(budget.updatedAt) })}
      </p>
      <div className="budget-actions">
        {target !== null && (scope === 'owner' || scope === 'capability') && (
          <button
            type="button"
            className="quiet"
            data-edge
            aria-label={t('budgets.editOf', { name: whose(budget) })}
            onClick={() => onOpen({ aim: { scope, target } })}
          >
            {t('budgets.edit')}
          </button>
        )}
        <BudgetActions of={budget} name={name} onRaise={() => onOpen({ raise: budget })} onEnd={mutateAsync} />
        <Link
          className="quiet"
          data-edge
          to={`/admin/audit?action=budget.&target=${encodeURIComponent(whose(budget))}`}
          aria-label={t('budgets.auditOf', { name: whose(budget) })}
        >
          {t('budgets.audit')}
        </Link>
      </div>
    </BudgetItem>
  );
}
