import '../../ui/form/field.css';
import '../office.css';
import './upstreams.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useParams, useSearchParams } from 'react-router';
import { figuresOf } from '../../figures/places';
import { Block } from '../../ui/page/Block';
import { Crumb } from '../../ui/page/Crumb';
import { StatusTag } from '../../ui/Tag';
import { useTitle } from '../../ui/page/useTitle';
import { Editor } from './Editor';
import { officeQueries } from '../queries';
import { fresh, stored } from './settings';

/** Creates a capability, or edits the one that the URL names. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  const id = useParams()['id'];
  return (
    <>
      <Crumb to="/admin/capabilities">{t('editor.back')}</Crumb>
      {id === undefined ? <New /> : <Existing key={id} id={id} />}
    </>
  );
}

function New() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('editor.new'));
  const [search] = useSearchParams();
  const groups = useQuery(officeQueries.groups());
  const asked = search.get('groupId');
  return (
    <>
      <div className="page-head">
        <h1>{t('editor.new')}</h1>
      </div>
      <Framed ready={groups.data !== undefined}>
        <Block query={groups} height={640}>
          {(all) => <Editor before={fresh((all.find(({ id }) => id === asked) ?? all[0])?.id ?? '')} capability={null} groups={all} />}
        </Block>
      </Framed>
    </>
  );
}

function Existing({ id }: { id: string }) {
  const { t } = useTranslation(['admin', 'figures', 'common']);
  const capability = useQuery(officeQueries.capability(id));
  const groups = useQuery(officeQueries.groups());
  useTitle(capability.data?.name ?? t('list.title'));
  return (
    <>
      {capability.data && (
        <div className="page-head">
          <h1>
            {capability.data.name} <StatusTag status={capability.data.status} />
          </h1>
          <div className="row">
            <Link className="quiet" data-edge to={figuresOf(id)}>
              {t('figures:link.figures')}
            </Link>
            <Link className="quiet" data-edge to={`/admin/prices?capability=${encodeURIComponent(id)}`}>
              {t('prices.title')}
            </Link>
          </div>
        </div>
      )}
      {capability.isError && !capability.data && <h1>{t('list.title')}</h1>}
      <Framed ready={capability.data !== undefined}>
        <Block query={capability} height={640}>
          {(data) => <Editor before={stored(data)} capability={data} groups={groups.data ?? []} />}
        </Block>
      </Framed>
    </>
  );
}

const Framed = ({ ready, children }: { ready: boolean; children: React.ReactNode }) =>
  ready ? children : <section className="block">{children}</section>;
