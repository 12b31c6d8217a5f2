import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../format/useFormat';
import { AskButton } from '../../ui/AskButton';
import { Button } from '../../ui/Button';
import { Decide, Form, Refused, useDraft, useTyped } from '../../ui/form/Form';
import { Block } from '../../ui/page/Block';
import { notify } from '../../ui/page/notice';
import { CsvFoot } from '../../ui/table/CsvButton';
import { Cell } from '../../ui/table/Records';
import { officeQueries } from '../queries';
import { useSetBelieved } from '../writes';
import { CapabilityField } from './CapabilityField';

/** Capabilities whose calls cost what their provider says that it charges, wherever an answer says so. */
export function Believed() {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const query = useQuery(officeQueries.believed());
  const { mutateAsync } = useSetBelieved();
  const [adding, setAdding] = useState(false);
  return (
    <section className="block" aria-label={t('believed.title')}>
      <div className="block-head">
        <h2>{t('believed.title')}</h2>
        {!adding && <Button onClick={() => setAdding(true)}>{t('believed.add')}</Button>}
      </div>
      <p className="second prices-about">{t('believed.about')}</p>
      {adding && <BelievedForm onClose={() => setAdding(false)} />}
      <Block query={query} height={84}>
        {(all) =>
          all.length === 0 ? (
            <p className="second">{t('believed.empty')}</p>
          ) : (
            <>
              <table className="table records late">
                <thead>
                  <tr>
                    <th>{t('prices.capability')}</th>
                    <th>{t('believed.since')}</th>
                    <th>{t('believed.by')}</th>
                    <th>
                      <span className="unseen">{t('prices.action')}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {all.map(({ capabilityId, createdBy, createdAt }) => (
                    <tr key={capabilityId}>
                      <td>
                        <strong>{capabilityId}</strong>
                      </td>
                      <Cell label={t('believed.since')} className="number">
                        {format.time(createdAt)}
                      </Cell>
                      <Cell label={t('believed.by')}>{createdBy}</Cell>
                      <td>
                        <div className="record-actions">
                          <AskButton
                            of={t('believed.stopOf', { name: capabilityId })}
                            title={t('believed.ask', { name: capabilityId })}
                            text={t('believed.askText')}
                            action={t('believed.stop')}
                            run={async () => {
                              await mutateAsync({ capabilityId, believed: false });
                              notify('ok', t('believed.stopped', { name: capabilityId }));
                            }}
                          />
                        </div>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <CsvFoot name="believed" rows={all} />
            </>
          )
        }
      </Block>
    </section>
  );
}

function BelievedForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('admin');
  const set = useSetBelieved();
  const form = useDraft({ capabilityId: '' });
  const capabilityId = useTyped(form).capabilityId.trim();
  const submit = () =>
    set.mutateAsync(
      { capabilityId, believed: true },
      {
        onSuccess: () => {
          notify('ok', t('prices.saved'));
          onClose();
        },
      },
    );
  return (
    <Form form={form} className="block stack price-form" label={t('believed.add')} onSubmit={submit} onClose={onClose}>
      <div className="price-grid">
        <CapabilityField id={capabilityId} />
      </div>
      <Refused error={set.error} changed={false} />
      <Decide action={t('prices.save')} ready={capabilityId !== ''} onClose={onClose} />
    </Form>
  );
}
