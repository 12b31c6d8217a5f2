import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client';
import { figuresQueries } from '../figures/queries';
import { useSaving } from '../ui/table/useSaving';
import { Explore, type Explorer } from './Explore';
import { officeQuery } from './queries';
import type { Question } from './question';

const office: Explorer = {
  site: 'office',
  actions: (question, { range }) => <Download question={question} range={range} />,
  useName: (of, id, { range, holdsToday }) => {
    const wanted = { sort: 'calls', page: 1, ...(of === 'owner' ? { q: '', owner: id } : { q: id, owner: '' }) } as const;
    const first = useQuery(figuresQueries.applications(range, wanted, holdsToday)).data?.items[0];
    return of === 'owner' ? first?.owner.email : first?.name;
  },
};

/** The file is fetched with the token, which no link carries. */
function Download({ question, range }: { question: Question; range: { start: string; end: string } }) {
  const { t } = useTranslation();
  const saving = useSaving(async ({ saveFile }) => {
    const { data } = await api.GET('/api/admin/statistics/explore.csv', {
      params: { query: officeQuery(question, range) },
      parseAs: 'blob',
    });
    saveFile(`explore-${range.start}-${range.end}.csv`, data as unknown as Blob);
  });
  return (
    <button type="button" className="quiet end" data-edge disabled={saving.busy} onClick={saving.start}>
      {t('csv.download')}
    </button>
  );
}

/** The calls of all applications of all owners, for administrators. */
export const Component = () => <Explore of={office} />;
