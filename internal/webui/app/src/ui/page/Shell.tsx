import { Fragment, useEffect, useId, useRef, useState, useSyncExternalStore, type KeyboardEvent, type ReactNode } from 'react';
import { onlineManager } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, NavLink, useLocation, useNavigate } from 'react-router';
import { switchLanguage } from '../../locale/locale';
import { NewsLabel } from '../../news/NewsLabel';
import { NEWEST } from '../../news/newest';
import { carried } from '../../range/range';
import { signOut } from '../../session/session';
import { useSession } from '../../session/useSession';
import { Icon, type IconName } from '../Icon';
import { Menu, type MenuItem } from '../Menu';
import { dismiss, useNotices } from './notice';
import { useUnseenNews } from './preferences';
import { useScroll } from './useScroll';
import { chooseTheme, useThemeChoice } from './theme';
import { useTellFault } from './faultText';
import { RequestIdLine } from './RequestId';

export interface Place {
  to: string;
  label: string;
  icon: IconName;
  /** Takes the range of the page along. */
  ranged?: boolean;
  /** Current only on its own page, not on those below it. */
  alone?: boolean;
  /** The heading it stands under, which those that follow share. */
  group?: string;
  /** What is to be seen beside its name. */
  badge?: ReactNode;
  /** On a phone it has a tab of its own. Where no place has one, all do; else the others are under "More". */
  tab?: boolean;
}

/** The frame of every page: rail, or on a phone top bar and bottom tabs; `find` opens the search, `news` is the page of what is new, `account` is more for the account's menu. */
export function Shell({
  places,
  home,
  band,
  find,
  news,
  account = [],
  children,
}: {
  places: Place[];
  home: string;
  band?: string;
  find?: ReactNode;
  news: string;
  account?: MenuItem[];
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useScroll();
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true }); // the page may know better
  }, [pathname]);

  const chosen = places.filter((place) => place.tab);
  const tabs = chosen.length > 0 ? chosen : places;
  const tools = (at: 'up' | 'down') => (
    <>
      <button type="button" className="place" onClick={switchLanguage} aria-label={`${t('language.label')}: ${t('language.other')}`}>
        <Icon name="language" size={20} />
        <span className="words">{t('language.other')}</span>
      </button>
      <ThemeMenu at={at} />
      <AccountMenu at={at} more={account} news={news} />
    </>
  );
  const brand = (
    <Link className="brand" to={home}>
      <img src="/favicon.svg" width="24" height="24" alt="" />
      {t('product')}
    </Link>
  );
  return (
    <div className={band ? 'office' : undefined}>
      <a className="skip" href="#main">
        {t('skip')}
      </a>
      <div className="frame">
        <header className="rail">
          {brand}
          {band && <p className="meta office-band">{band}</p>}
          {find}
          <nav className="places" aria-label={t('nav.main')}>
            <Places of={places} />
          </nav>
          {!band && (
            <a className="place" href="/docs" target="_blank" rel="noreferrer">
              <Icon name="docs" size={20} />
              {t('nav.docs')}
            </a>
          )}
          {tools('up')}
        </header>
        <header className="topbar">
          {brand}
          {band && <span className="meta office-band">{band}</span>}
          {find}
          {!band && (
            <a className="place" href="/docs" target="_blank" rel="noreferrer" aria-label={t('nav.docs')}>
              <Icon name="docs" size={20} />
            </a>
          )}
          {tools('down')}
        </header>
        <main id="main" className="main" ref={main} tabIndex={-1}>
          <Offline />
          {children}
        </main>
        <nav className="tabs" aria-label={t('nav.main')}>
          {tabs.map((place) => (
            <PlaceLink key={place.to} place={place} />
          ))}
          {tabs.length < places.length && <More places={places.filter((place) => !tabs.includes(place))} />}
        </nav>
      </div>
      <Notices />
    </div>
  );
}

/** Places under their headings. */
function Places({ of }: { of: readonly Place[] }) {
  return of.map((place, n) => (
    <Fragment key={place.to}>
      {place.group !== undefined && place.group !== of[n - 1]?.group && <p className="meta places-head">{place.group}</p>}
      <PlaceLink place={place} />
    </Fragment>
  ));
}

/** A tab that opens the places which have none of their own. */
function More({ places }: { places: readonly Place[] }) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const [openAt, setOpenAt] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const open = openAt === pathname; // another page closes it
  const here = places.find(({ to, alone }) => pathname === to || (!alone && pathname.startsWith(`${to}/`)));
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>('.more-places a')?.focus();
    const outside = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpenAt(null);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !open) return;
    event.stopPropagation();
    setOpenAt(null);
    opener.current?.focus();
  };
  return (
    <div className="more" ref={box} onKeyDown={keys}>
      <button
        ref={opener}
        type="button"
        className="place"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        data-here={here !== undefined || undefined}
        onClick={() => setOpenAt(open ? null : pathname)}
      >
        <Icon name="more" size={20} />
        <span className="words">{here?.label ?? t('nav.more')}</span>
      </button>
      {open && (
        <div
          className="more-places"
          id={id}
          onClick={(event) => event.target instanceof Element && event.target.closest('a') && setOpenAt(null)}
        >
          <Places of={places} />
        </div>
      )}
    </div>
  );
}

function PlaceLink({ place }: { place: Place }) {
  const { search } = useLocation();
  return (
    <NavLink
      className="place"
      to={place.to + (place.ranged ? carried(new URLSearchParams(search)) : '')}
      end={place.to === '/' || place.alone === true}
    >
      <Icon name={place.icon} size={20} />
      <span className="words">{place.label}</span>
      {place.badge}
    </NavLink>
  );
}

function ThemeMenu({ at }: { at: 'up' | 'down' }) {
  const { t } = useTranslation();
  const choice = useThemeChoice();
  return (
    <Menu
      className="place"
      at={at}
      label={`${t('theme.label')}: ${t(`theme.${choice}`)}`}
      button={
        <>
          <Icon name="theme" size={20} />
          <span className="words">{t(`theme.${choice}`)}</span>
        </>
      }
      groups={[
        (['system', 'light', 'dark'] as const).map((key) => ({
          key,
          label: t(`theme.${key}`),
          checked: key === choice,
          onSelect: () => chooseTheme(key),
        })),
      ]}
    />
  );
}

function AccountMenu({ at, more, news }: { at: 'up' | 'down'; more: MenuItem[]; news: string }) {
  const { t } = useTranslation();
  const { who } = useSession();
  const navigate = useNavigate();
  const unseen = useUnseenNews(NEWEST);
  const tell = useTellFault();
  const leave = () => signOut().catch(tell);
  return (
    <Menu
      className="place"
      at={at}
      label={[`${t('account.open')}: ${who?.email ?? ''}`, ...(unseen ? [t('news.unseen')] : [])].join(' · ')}
      head={
        <p className="meta">
          {t('account.signedInAs')}
          <br />
          <strong>{who?.email}</strong>
        </p>
      }
      button={
        <>
          <span className="dotted">
            <Icon name="account" size={20} />
            {unseen && <span className="dot" />}
          </span>
          <span className="words cut">{who?.email}</span>
        </>
      }
      groups={[
        [{ key: 'news', label: <NewsLabel unseen={unseen} />, onSelect: () => void navigate(news) }, ...more],
        [{ key: 'out', label: t('account.signOut'), onSelect: () => void leave() }],
      ]}
    />
  );
}

function Offline() {
  const { t } = useTranslation();
  const online = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return online ? null : (
    <div className="bar" data-kind="warn" role="status">
      <Icon name="warn" />
      {t('state.offline')}
    </div>
  );
}

/** What was said once; also used by pages without the frame. */
export function Notices() {
  const { t } = useTranslation();
  const notices = useNotices();
  return (
    <div className="notices" role="status">
      {notices.map(({ id, kind, text, requestId }) => (
        <div key={id} className="bar" data-kind={kind}>
          <Icon name={kind} />
          <span>
            {text}
            {requestId !== null && (
              <>
                <br />
                <RequestIdLine id={requestId} />
              </>
            )}
          </span>
          <button type="button" className="quiet square" aria-label={t('action.dismiss')} onClick={() => dismiss(id)}>
            <Icon name="failed" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
