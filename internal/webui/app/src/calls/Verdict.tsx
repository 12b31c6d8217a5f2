import './verdict.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { applicationQueries } from '../applications/queries';
import { useWrites } from '../applications/writes';
import { capabilityQueries, useBind } from '../capabilities/queries';
import { firstDraft } from '../playground/request';
import { sample } from '../playground/samples';
import { Copy } from '../ui/Copy';
import { useTellFault } from '../ui/page/faultText';
import { Icon } from '../ui/Icon';
import { PageLink } from '../ui/page/PageLink';
import { askedFor, closest, fixOf } from './reason';

type Reason = NonNullable<Schemas['Failure']['reason']>;

/** One sentence that says why, and what to do now. The state is read now: it may be mended already. */
export function Verdict({ applicationId, call, base }: { applicationId: string; call: Schemas['FailedCall']; base: string | undefined }) {
  const { t } = useTranslation('calls');
  const { reason, query } = call.failure;
  const model = askedFor(call.model, query);
  const fix = reason ? fixOf(reason.code) : 'none';
  return (
    <div className="verdict" role="group" aria-label={t('fact.reason')}>
      <p>
        <Icon name="failed" />{' '}
        {t(`verdict.${reason?.code ?? 'none'}`, { model, status: String(reason?.upstreamStatus ?? call.statusCode) })}
      </p>
      {reason?.message != null && (told(reason.type) || fix === 'budgets') && (
        <p className="verdict-message">
          <span className="unseen">{t('fact.message')}: </span>
          {reason.message}
        </p>
      )}
      {fix === 'enable' && <Enable applicationId={applicationId} model={model} />}
      {fix === 'keys' && (
        <div>
          <PageLink className="quiet" data-edge to={`/applications/${applicationId}#keys`}>
            {t('fix.keys')}
          </PageLink>
        </div>
      )}
      {fix === 'bind' && <Bind applicationId={applicationId} model={model} />}
      {fix === 'sameGroup' && <SameGroup model={model} />}
      {fix === 'closest' && <Closest model={model} />}
      {fix === 'example' && base !== undefined && <Example base={base} />}
      {fix === 'limits' && <Limits applicationId={applicationId} />}
      {fix === 'budgets' && <Budgets applicationId={applicationId} unpriced={reason?.code === 'cost_unknown'} />}
      {fix === 'try' && <Try applicationId={applicationId} model={model} />}
    </div>
  );
}

/** What the gateway says itself is the heading already; of a connection, and of whose budget it is, it knows more. */
const told = (type: Reason['type']): boolean => type === 'upstream_http_error' || type === 'connection_failed';

const capabilityPath = (id: string) => `/capabilities/${encodeURIComponent(id)}`;

function Try({ applicationId, model }: { applicationId: string; model: string }) {
  const { t } = useTranslation('calls');
  if (model === '') return null;
  return (
    <div>
      <PageLink className="quiet" data-edge to={`${capabilityPath(model)}?tab=try&app=${applicationId}`}>
        {t('fix.try', { model })}
      </PageLink>
    </div>
  );
}

function Limits({ applicationId }: { applicationId: string }) {
  const { t } = useTranslation('calls');
  return (
    <>
      <p>{t('fix.limited')}</p>
      <div>
        <PageLink className="quiet" data-edge to={`/applications/${applicationId}#limits`} state={{ below: true }}>
          {t('fix.limits')}
        </PageLink>
      </div>
    </>
  );
}

function Budgets({ applicationId, unpriced }: { applicationId: string; unpriced: boolean }) {
  const { t } = useTranslation('calls');
  return (
    <>
      <p>{t(unpriced ? 'fix.unpriced' : 'fix.spent')}</p>
      <div>
        <PageLink className="quiet" data-edge to={`/applications/${applicationId}#budgets`} state={{ below: true }}>
          {t('fix.budgets')}
        </PageLink>
      </div>
    </>
  );
}

/** Runs one fix at a time; a refusal is said. */
function useFix(run: () => Promise<unknown>): [boolean, () => void] {
  const tell = useTellFault();
  const [busy, setBusy] = useState(false);
  const start = () => {
    setBusy(true);
    run()
      .catch(tell)
      .finally(() => setBusy(false));
  };
  return [busy, start];
}

function Enable({ applicationId, model }: { applicationId: string; model: string }) {
  const { t } = useTranslation('calls');
  const { data } = useQuery(applicationQueries.get(applicationId));
  const writes = useWrites();
  const [busy, enable] = useFix(() => writes.setStatus(applicationId, 'active'));
  if (!data) return null;
  if (data.status === 'active')
    return (
      <>
        <p role="status">{t('fix.enabled')}</p>
        <Try applicationId={applicationId} model={model} />
      </>
    );
  return (
    <div>
      <button type="button" className="quiet" data-edge disabled={busy} onClick={enable}>
        {t('fix.enable')}
      </button>
    </div>
  );
}

function Bind({ applicationId, model }: { applicationId: string; model: string }) {
  const { t } = useTranslation('calls');
  const { data } = useQuery(applicationQueries.get(applicationId));
  const { mutateAsync } = useBind(model);
  const [busy, bind] = useFix(() => mutateAsync(applicationId));
  if (!data) return null;
  if (data.capabilityIds.includes(model))
    return (
      <>
        <p role="status">{t('fix.bound', { model })}</p>
        <Try applicationId={applicationId} model={model} />
      </>
    );
  return (
    <div>
      <button type="button" className="quiet" data-edge disabled={busy} onClick={bind}>
        {t('fix.bind', { model })}
      </button>
    </div>
  );
}

function Links({ label, ids }: { label: string; ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <div className="row">
      <span>{label}</span>
      {ids.map((id) => (
        <PageLink key={id} className="quiet" data-edge to={capabilityPath(id)}>
          {id}
        </PageLink>
      ))}
    </div>
  );
}

function SameGroup({ model }: { model: string }) {
  const { t } = useTranslation('calls');
  const { data: asked } = useQuery(capabilityQueries.get(model));
  const { data: offer = [] } = useQuery(capabilityQueries.list());
  return (
    <Links
      label={t('fix.sameGroup')}
      ids={offer
        .filter(({ id, groupId }) => id !== model && groupId === asked?.groupId)
        .slice(0, 3)
        .map(({ id }) => id)}
    />
  );
}

function Closest({ model }: { model: string }) {
  const { t } = useTranslation('calls');
  const { data: offer = [] } = useQuery(capabilityQueries.list());
  return (
    <Links
      label={t('fix.closest')}
      ids={closest(
        model,
        offer.map(({ id }) => id),
      )}
    />
  );
}

function Example({ base }: { base: string }) {
  const { t } = useTranslation('calls');
  const { data: offer = [] } = useQuery(capabilityQueries.list());
  const [first] = offer;
  if (!first) return null;
  return (
    <div>
      <Copy text={sample('curl', base, first.id, firstDraft(first.defaultPath, first.upstreamModel, 'Hello'))} label={t('fix.example')} />
    </div>
  );
}
