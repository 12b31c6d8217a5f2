import '../../ui/table/records.css';
import '../office.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../../api/client';
import { useFormat } from '../../format/useFormat';
import type zh from '../../locale/zh/admin';
import { Empty, TableBones } from '../../ui/page/Block';
import { Email } from '../../ui/Email';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { usePage } from '../../ui/table/usePage';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { AuditFilters } from './AuditFilters';
import { anyEntry, auditFilter, targetPath } from './auditFilter';
import { METERS, type Meter } from '../../tokens/meters';
import { AUDIT_SIZE, officeQueries } from '../queries';
import { folded, membersOf, moves } from './trail';

type Action = keyof (typeof zh)['audit']['actions'];
type Field = keyof (typeof zh)['audit']['fields'];

/** Who changed what, newest first. Of a key only that it changed. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('audit.title'));
  const [page, setPage] = usePage();
  const [search] = useSearch();
  const filter = auditFilter(search);
  const query = useQuery(officeQueries.audit(page, filter));
  return (
    <>
      <div className="page-head">
        <h1>{t('audit.title')}</h1>
      </div>
      <section className="block" aria-label={t('audit.title')}>
        <AuditFilters filter={filter} />
        <PagedBlock
          query={query}
          height={480}
          bones={<TableBones roomy className="records audit" head={<Columns />} rows={10} columns={5} />}
          page={page}
          size={AUDIT_SIZE}
          onPage={setPage}
          empty={<Empty text={t(anyEntry(filter) ? 'audit.empty' : 'audit.none')} />}
        >
          {({ items }) => <Table items={items} />}
        </PagedBlock>
      </section>
    </>
  );
}

function Columns() {
  const { t } = useTranslation(['admin', 'common']);
  return (
    <thead>
      <tr>
        {(['at', 'actor', 'action', 'target', 'changes'] as const).map((key) => (
          <th key={key} scope="col">
            {t(`audit.${key}`)}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Table({ items }: { items: Schemas['AuditEntry'][] }) {
  const { t, i18n } = useTranslation(['admin', 'common']);
  const format = useFormat();
  const action = (name: string) => {
    const key = name.replace('.', '__');
    return i18n.exists(`admin:audit.actions.${key}`) ? t(`audit.actions.${key as Action}`) : name;
  };
  return (
    <table className="table records audit">
      <Columns />
      <tbody>
        {folded(items).map(({ entry, times, since }) => (
          <tr key={entry.id}>
            <td className="number" title={format.exactTime(entry.at)}>
              {format.time(entry.at)}
              {times > 1 && <span className="meta audit-since">{t('audit.since', { time: format.time(since) })}</span>}
            </td>
            <td>
              <Email of={entry.actor} />
            </td>
            <td title={entry.action}>
              {action(entry.action)}
              {times > 1 && <strong className="number"> ×{times}</strong>}
            </td>
            <td title={entry.targetId}>
              <Target entry={entry} />
            </td>
            <td>
              <ul className="changes" data-flowing={entry.action.endsWith('.create') || undefined}>
                {entry.changes.map((change) => (
                  <li key={change.field}>
                    <Change change={change} created={entry.action.endsWith('.create')} />
                  </li>
                ))}
              </ul>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What was changed, by name; on the way to its page where there is one. */
function Target({ entry }: { entry: Schemas['AuditEntry'] }) {
  const { t } = useTranslation('admin');
  const name = entry.targetName || (entry.targetType === 'ceiling' ? t('audit.everybody') : <code>{entry.targetId}</code>);
  const to = targetPath(entry);
  return to === null ? name : <Link to={to}>{name}</Link>;
}

const MOST_MOVES = 5; // told one by one
const isIds = (value: unknown): value is string[] => Array.isArray(value) && value.every((id) => typeof id === 'string');
const SECRET = '(changed)'; // what the trail says of a key

function Change({ change: { field, from, to }, created }: { change: Schemas['AuditChange']; created: boolean }) {
  const { t, i18n } = useTranslation(['admin', 'capabilities', 'common', 'alerts']);
  const format = useFormat();
  const meter = field.replace(/^amounts\./, '');
  const name = i18n.exists(`admin:audit.fields.${field}`)
    ? t(`audit.fields.${field as Field}`)
    : meter in METERS
      ? t(`capabilities:meters.${meter as Meter}`)
      : field;
  const { data: groups } = useQuery(officeQueries.groups());
  if (field === 'order' && isIds(from) && isIds(to)) {
    const all = moves(from, to);
    const words = all
      .slice(0, MOST_MOVES)
      .map(({ id, from: was, to: is }) =>
        t('audit.moved', { name: groups?.find((group) => group.id === id)?.name ?? id, from: format.count(was), to: format.count(is) }),
      );
    return (
      <>
        {words.join(' · ')}
        {all.length > MOST_MOVES && <> · {t('audit.movedMore', { n: format.count(all.length - MOST_MOVES) })}</>}
      </>
    );
  }
  if (to === SECRET)
    return (
      <>
        {t('audit.field', { name })}
        {created ? t('audit.set') : t('audit.changed')}
      </>
    );
  const shown = (value: unknown): string => {
    if (value === '' || value === null) return t('audit.nothing');
    if (field === 'status' && (value === 'enabled' || value === 'disabled')) return t(`common:status.${value}`);
    if (field === 'status' && (value === 'active' || value === 'disabled')) return t(`common:status.${value}`);
    if (Array.isArray(value) && value.length === 0) return t('audit.nothing');
    if (Array.isArray(value)) return value.map(shown).join(t('audit.between'));
    if (field === 'kind' && i18n.exists(`alerts:kinds.${String(value)}`)) return t(`alerts:kinds.${value as Schemas['Alert']['kind']}`);
    if (typeof value === 'boolean') return t(value ? 'audit.yes' : 'audit.no');
    if ((field === 'auth' || field === 'upstreamAuth') && i18n.exists(`admin:editor.auths.${String(value)}`))
      return t(`editor.auths.${value as Schemas['UpstreamAuth']}`);
    const all = field === 'upstreams' && typeof value === 'string' ? membersOf(value) : null;
    if (all) return all.map((one) => t('audit.member', { ...one, status: t(`common:status.${one.status}`) })).join(t('audit.between'));
    if (typeof value === 'number') return format.count(value);
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  return (
    <>
      {t('audit.field', { name })}
      {from !== null && from !== undefined && (
        <>
          <del>{shown(from)}</del> →{' '}
        </>
      )}
      {shown(to)}
    </>
  );
}
