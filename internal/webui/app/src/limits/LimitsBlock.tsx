import '../ui/form/field.css';
import './limits.css';
import { useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { applicationQueries } from '../applications/queries';
import { ABSENT } from '../format/format';
import { useFormat } from '../format/useFormat';
import { Block } from '../ui/page/Block';
import { Tag } from '../ui/Tag';
import { useAnchor } from '../ui/page/useScroll';
import { level, type LimitUsage } from './limits';
import { LimitsForm } from './LimitsForm';

/** What an application may use, how much of it is used now, who says so, and what happens beyond. */
export function LimitsBlock({ application }: { application: Schemas['Application'] }) {
  const { t } = useTranslation(['applications', 'common']);
  const query = useQuery(applicationQueries.limits(application.id));
  const [editing, setEditing] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useAnchor('limits');
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => opener.current?.focus());
  };
  return (
    <section id="limits" className="block limits" aria-label={t('limits.title')}>
      <div className="block-head">
        <h2>{t('limits.title')}</h2>
        {!editing && (
          <button ref={opener} type="button" className="quiet" data-edge onClick={() => setEditing(true)}>
            {t('limits.edit')}
          </button>
        )}
      </div>
      <p className="second limits-about">{t('limits.about')}</p>
      {editing && <LimitsForm application={application} onClose={close} />}
      <Block query={query} height={76}>
        {(items) => (
          <ul className="limit-list">
            {items.map((item) => (
              <Limit key={item.name} item={item} />
            ))}
          </ul>
        )}
      </Block>
    </section>
  );
}

function Limit({ item }: { item: LimitUsage }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const label = t(`common:limits.${item.name}`);
  if (item.limit === null || item.source === null) {
    return (
      <li>
        <div className="limit-head">
          <span>{label}</span>
          <span className="second">{t('common:limits.none')}</span>
        </div>
      </li>
    );
  }
  const filled = level(item);
  const numbers = t('limits.used', { used: format.count(item.used), limit: format.count(item.limit) });
  const span =
    item.windowMs !== null
      ? t('limits.window')
      : item.resetsAt !== null
        ? t('limits.resets', { time: format.time(item.resetsAt).slice(0, 16) })
        : t('limits.now');
  return (
    <li>
      <div className="limit-head">
        <span>{label}</span>
        {filled?.state === 'reached' && <Tag kind="failed">{t('limits.reached')}</Tag>}
        <strong className="number" title={filled ? undefined : t('limits.unknown')}>
          {numbers}
        </strong>
      </div>
      <div
        className="limit-bar"
        data-state={filled?.state ?? 'unknown'}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={item.limit}
        aria-valuenow={Math.min(item.used ?? 0, item.limit)}
        aria-valuetext={filled ? numbers : `${ABSENT} ${t('limits.unknown')}`}
      >
        <div style={{ width: `${(filled?.share ?? 0) * 100}%` }} />
      </div>
      {item.used !== null && item.estimated !== null && item.estimated > 0 && (
        <p className="meta">
          {t('limits.estimated', { reported: format.count(item.used - item.estimated), estimated: format.count(item.estimated) })}
        </p>
      )}
      <p className="meta">{`${t(`limits.source.${item.source}`)} · ${span}`}</p>
    </li>
  );
}
