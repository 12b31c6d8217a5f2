import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { applicationQueries } from '../applications/queries';
import { SavedViews } from '../views/SavedViews';
import { AlertOnThis } from './AlertOnThis';
import { Explore, type Explorer } from './Explore';
import { csvPath } from './queries';

const console: Explorer = {
  site: 'console',
  views: <SavedViews page="explore" />,
  actions: (question, state) => (
    <>
      <AlertOnThis question={question} state={state} />
      <Download path={csvPath(question, state.range)} />
    </>
  ),
  useName: (_, id) => useQuery(applicationQueries.get(id)).data?.name,
};

function Download({ path }: { path: string }) {
  const { t } = useTranslation();
  return (
    <a className="meta end" href={path} download>
      {t('csv.download')}
    </a>
  );
}

/** A developer's own calls. */
export const Component = () => <Explore of={console} />;
