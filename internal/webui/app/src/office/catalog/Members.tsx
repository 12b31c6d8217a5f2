import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useController } from 'react-hook-form';
import type { Schemas } from '../../api/client';
import { Button } from '../../ui/Button';
import { Health } from '../operations/Health';
import { upstreamQueries } from '../queries';
import { linesOf, members, type Member, type Settings } from './settings';

/** The named upstreams of a capability: which, in what order, with what share; none means its own address. */
export function Members({ health }: { health: readonly Schemas['CapabilityUpstream'][] }) {
  const { t } = useTranslation(['admin', 'common']);
  const { field, fieldState } = useController<Settings, 'upstreams'>({ name: 'upstreams' });
  const { value: lines, onChange } = field;
  const fault = fieldState.error?.message;
  const { data: upstreams = [] } = useQuery(upstreamQueries.upstreams());
  const [picked, setPicked] = useState('');
  const all = members(lines);
  const others = upstreams.filter(({ id }) => !all.some(({ upstreamId }) => upstreamId === id));
  const chosen = others.find(({ id }) => id === picked) ?? others[0];
  const change = (at: number, part: Partial<Member>) => onChange(linesOf(all.map((one, n) => (n === at ? { ...one, ...part } : one))));
  const name = (id: string) => upstreams.find((one) => one.id === id)?.name ?? id;
  return (
    <div className="stack members" role="group" aria-label={t('editor.members.title')}>
      <p className="second">{t('editor.members.about')}</p>
      {all.length > 0 && (
        <ul className="member-list">
          {all.map((one, n) => (
            <li key={one.upstreamId}>
              <span className="grow">
                <strong>{name(one.upstreamId)}</strong> <code className="meta">{one.upstreamId}</code>{' '}
                <Health of={health.find(({ upstreamId }) => upstreamId === one.upstreamId)?.health ?? 'unknown'} />
              </span>
              <label className="meta">
                {t('editor.members.priority')}
                <input
                  className="input"
                  type="number"
                  min="0"
                  max="100"
                  step="1"
                  value={one.priority}
                  onChange={(event) => change(n, { priority: event.target.value })}
                />
              </label>
              <label className="meta">
                {t('editor.members.weight')}
                <input
                  className="input"
                  type="number"
                  min="1"
                  max="1000"
                  step="1"
                  value={one.weight}
                  onChange={(event) => change(n, { weight: event.target.value })}
                />
              </label>
              <label className="meta">
                {t('editor.status')}
                <select
                  className="select"
                  value={one.status}
                  onChange={(event) => change(n, { status: event.target.value as Member['status'] })}
                >
                  <option value="enabled">{t('common:status.enabled')}</option>
                  <option value="disabled">{t('common:status.disabled')}</option>
                </select>
              </label>
              <button
                type="button"
                className="quiet"
                data-edge
                onClick={() => onChange(linesOf(all.filter((_, at) => at !== n)))}
                aria-label={t('editor.members.removeOf', { name: name(one.upstreamId) })}
              >
                {t('editor.members.remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {fault !== undefined && (
        <p className="meta">
          <span className="fault-text" role="alert">
            {fault}
          </span>
        </p>
      )}
      {chosen && (
        <div className="row">
          <select
            className="select"
            aria-label={t('editor.members.choose')}
            value={chosen.id}
            onChange={(event) => setPicked(event.target.value)}
          >
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
          <Button
            onClick={() => onChange(linesOf([...all, { upstreamId: chosen.id, weight: 1, priority: all.length, status: 'enabled' }]))}
          >
            {t('editor.members.add')}
          </Button>
        </div>
      )}
    </div>
  );
}

/** The address that calls go to first. */
export function useFirstBase({ upstreams, upstreamBaseUrl }: Settings): string {
  const { data = [] } = useQuery({ ...upstreamQueries.upstreams(), enabled: upstreams !== '' });
  const all = members(upstreams)
    .filter(({ status }) => status === 'enabled')
    .sort((a, b) => Number(a.priority) - Number(b.priority));
  return upstreams === '' ? upstreamBaseUrl : (data.find(({ id }) => id === all[0]?.upstreamId)?.baseUrl ?? '');
}
