import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Block, Empty } from '../page/Block';
import { CsvFoot } from './CsvButton';
import { Pages } from './Pages';
import type { AskPage } from './saveCsv';

/** A page of a list: its rows with the other pages below them, the way back from a page past the end, or `empty`. */
export function PagedBlock<T extends { items: readonly unknown[]; total: number }>({
  query,
  height,
  bones,
  page,
  size,
  onPage,
  empty,
  csv,
  children,
}: {
  query: UseQueryResult<T>;
  /** Of what stands there before the first answer, in pixels. */
  height: number;
  bones: ReactNode;
  page: number;
  size: number;
  onPage: (page: number) => void;
  empty: ReactNode;
  /** How all of the list is saved as a file. */
  csv?: { name: string; rows: AskPage };
  children: (data: T) => ReactNode;
}) {
  return (
    <Block query={query} height={height} bones={bones}>
      {(data) =>
        data.items.length > 0 ? (
          <>
            {children(data)}
            <Pages page={page} total={data.total} size={size} onPage={onPage} />
            {csv && <CsvFoot {...csv} />}
          </>
        ) : data.total > 0 ? (
          <PastTheEnd page={page} last={Math.ceil(data.total / size)} onPage={onPage} />
        ) : (
          empty
        )
      }
    </Block>
  );
}

/** What stands on a page that a list has no rows for. */
export function PastTheEnd({ page, last, onPage }: { page: number; last: number; onPage: (page: number) => void }) {
  const { t } = useTranslation();
  return (
    <Empty text={t('page.past', { page: String(page) })}>
      <button type="button" className="quiet" data-edge onClick={() => onPage(last)}>
        {t('page.goTo', { page: String(last) })}
      </button>
    </Empty>
  );
}
