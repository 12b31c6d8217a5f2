import './news.css';
import { useEffect, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../format/useFormat';
import { configQueries } from '../session/queries';
import { markNewsSeen } from '../ui/page/preferences';
import { useTitle } from '../ui/page/useTitle';
import { news, type Item } from './news';
import { NEWEST } from './newest';

/** What is new, by day, and which version this is; the back office tells what came to the console, too. */
export function WhatsNew({ office = false }: { office?: boolean }) {
  const { t } = useTranslation();
  const { data: config } = useQuery(configQueries.get());
  useTitle(t('news.title'));
  useEffect(() => markNewsSeen(NEWEST), []);
  return (
    <div className="news">
      <div className="page-head">
        <h1>{t('news.title')}</h1>
        <span className="meta">{config && t('news.version', { version: config.version })}</span>
      </div>
      {news.map((entry) => (
        <Day key={entry.day} day={entry.day}>
          {office && <Items title={t('news.office')} items={entry.office} />}
          <Items title={office ? t('news.console') : ''} items={entry.console} linked={!office} />
        </Day>
      ))}
    </div>
  );
}

function Day({ day, children }: { day: string; children: ReactNode }) {
  const format = useFormat();
  return (
    <section className="block" aria-label={day}>
      <h2>
        <time dateTime={day}>{day}</time> <span className="second">{format.weekday(day)}</span>
      </h2>
      {children}
    </section>
  );
}

function Items({ title, items, linked = true }: { title: string; items: readonly Item[]; linked?: boolean }) {
  const { language } = useFormat();
  return (
    <>
      {title !== '' && <h3>{title}</h3>}
      <dl>
        {items.map(
          ({
            to,
            words: {
              [language]: [name, text],
            },
          }) => (
            <div key={name}>
              <dt>{linked && to !== undefined ? <Link to={to}>{name}</Link> : name}</dt>
              <dd className="second">{text}</dd>
            </div>
          ),
        )}
      </dl>
    </>
  );
}
