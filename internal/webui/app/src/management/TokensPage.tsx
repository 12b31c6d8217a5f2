import './management.css';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ending } from '../applications/keys';
import { useFormat } from '../format/useFormat';
import { AskButton } from '../ui/AskButton';
import { Block, Empty, TableBones } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { notify } from '../ui/page/notice';
import { useAskedToCreate } from '../ui/table/useAskedToCreate';
import { Cell } from '../ui/table/Records';
import { Tag } from '../ui/Tag';
import { useTitle } from '../ui/page/useTitle';
import { tokenQueries, useTokenWrites, type ManagementToken } from './tokens';

const CreateDialog = lazy(() => import('./CreateDialog'));

const columns = ['name', 'access', 'token', 'lastUsed', 'expires'] as const;

/** What the owner's scripts and dashboards manage and read statistics with. */
export function Component() {
  const { t } = useTranslation(['management', 'common']);
  const title = t('common:account.tokens');
  useTitle(title);
  const query = useQuery(tokenQueries.list());
  const [making, setMaking] = useState(false);
  useAskedToCreate(() => setMaking(true));
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        <Button kind="primary" onClick={() => setMaking(true)}>
          {t('create')}
        </Button>
      </div>
      <section className="block" aria-label={title}>
        <p className="second management-about">{t('about')}</p>
        <Block
          query={query}
          height={88}
          bones={<TableBones roomy className="records management" head={<Columns />} rows={2} columns={6} />}
        >
          {(items) =>
            items.length === 0 ? (
              <Empty text={t('none')} />
            ) : (
              <table className="table records management" aria-label={t('rows')}>
                <Columns />
                <tbody>
                  {items.map((one) => (
                    <Row key={one.id} of={one} now={query.dataUpdatedAt} />
                  ))}
                </tbody>
              </table>
            )
          }
        </Block>
      </section>
      {making && (
        <Suspense fallback={null}>
          <CreateDialog onClosed={() => setMaking(false)} />
        </Suspense>
      )}
    </>
  );
}

function Columns() {
  const { t } = useTranslation('management');
  return (
    <thead>
      <tr>
        {columns.map((key) => (
          <th key={key} scope="col" title={key === 'lastUsed' ? t('lastUsedHint') : undefined}>
            {t(key)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Row({ of: { id, name, access, maskedToken, createdAt, expiresAt, lastUsedAt }, now }: { of: ManagementToken; now: number }) {
  const { t } = useTranslation('management');
  const format = useFormat();
  const { revoke } = useTokenWrites();
  const state = ending({ expiresAt }, now);
  const run = async () => {
    await revoke(id);
    notify('ok', t('revoked', { name }));
  };
  return (
    <tr>
      <td>
        <strong className="management-name">{name}</strong>
      </td>
      <Cell label={t('access')}>
        <span title={t(`may.${access}`)}>{t(`accesses.${access}`)}</span>
      </Cell>
      <Cell label={t('token')}>
        <code>{maskedToken}</code>
        <span className="meta record-line" title={format.exactTime(createdAt)}>
          {t('created')} <span className="number">{format.time(createdAt)}</span>
        </span>
      </Cell>
      <Cell label={t('lastUsed')}>
        {lastUsedAt === null ? (
          t('unused')
        ) : (
          <span className="number" title={format.exactTime(lastUsedAt)}>
            {format.time(lastUsedAt)}
          </span>
        )}
      </Cell>
      <Cell label={t('expires')}>
        <span className="number" title={format.exactTime(expiresAt)}>
          {format.time(expiresAt)}
        </span>{' '}
        {state === 'expired' && <Tag kind="off">{t('expired')}</Tag>}
        {state === 'soon' && <Tag kind="warn">{t('soon')}</Tag>}
      </Cell>
      <td>
        <div className="record-actions">
          <AskButton
            className="quiet danger"
            of={t('revokeOf', { name })}
            title={t('ask', { name })}
            text={t('askText')}
            action={t('revoke')}
            run={run}
          />
        </div>
      </td>
    </tr>
  );
}
