import { useDeferredValue } from 'react';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../find/asked';
import { fits, inOrder, MOST, verbsFor, type Found } from '../../find/found';
import { Palette } from '../../find/Palette';
import { useCommonVerbs } from '../../find/useCommonVerbs';
import { words } from '../../find/words';
import { officeQueries, upstreamQueries } from '../queries';
import { places } from './places';

/** The back office's search: any call, everybody's applications, users, the catalog, and what can be done. */
export default function OfficePalette(props: { onClose: () => void; onShortcuts: () => void }) {
  return <Palette {...props} useFound={useFound} nothing={words.nothingInOffice} />;
}

/** What there is under a text: what an id leads to and what can be done is known at once, the rest is asked for. */
function useFound(text: string, onShortcuts: () => void): { found: Found[]; busy: boolean } {
  const common = useCommonVerbs(onShortcuts);
  const asked = read(useDeferredValue(text));
  const now = read(text);
  const enabled = asked.words !== '' && asked.traces.length === 0;
  const filter = { q: asked.words, page: 1 };
  const applications = useQuery({ ...officeQueries.applications({ ...filter, status: '', sort: '' }), enabled });
  const users = useQuery({ ...officeQueries.users(filter), enabled });
  const capabilities = useQuery({ ...officeQueries.capabilities({ ...filter, groupId: '', status: '' }), enabled });
  const upstreams = useQuery({ ...upstreamQueries.upstreams(), refetchInterval: false, enabled });
  const groups = useQuery({ ...officeQueries.groups(), enabled });

  const ids: Found[] = [
    ...now.ids.map((id): Found => ({ key: `call ${id}`, icon: 'audit', text: id, note: words.call, go: `/admin/calls/${id}` })),
    ...now.traces.map((id): Found => ({ key: `trace ${id}`, icon: 'audit', text: id, note: words.trace, go: `/admin/calls?trace=${id}` })),
  ];
  // Those of the text before stand until the new ones are there, as far as they still fit.
  const few = <T,>(items: readonly T[] | undefined, texts: (one: T) => string[], found: (one: T) => Found): Found[] =>
    enabled && now.words !== ''
      ? (items ?? [])
          .filter((one) => fits(now.words, ...texts(one)))
          .slice(0, MOST)
          .map(found)
      : [];
  const named = [
    few(
      applications.data?.items,
      ({ id, name, owner }) => [id, name, owner.email],
      ({ id, name, owner }) => ({
        key: `application ${id}`,
        icon: 'applications',
        text: name,
        note: `${words.application} · ${owner.email}`,
        go: `/admin/applications?q=${id}`,
      }),
    ),
    few(
      users.data?.items,
      ({ email }) => [email],
      ({ id, email }) => ({
        key: `user ${id}`,
        icon: 'account',
        text: email,
        note: words.user,
        go: `/admin/users?q=${encodeURIComponent(email)}`,
      }),
    ),
    few(
      capabilities.data?.items,
      ({ id, name }) => [id, name],
      ({ id, name }) => ({
        key: `capability ${id}`,
        icon: 'capabilities',
        text: name,
        note: name === id ? words.capability : `${words.capability} · ${id}`,
        go: `/admin/capabilities/${encodeURIComponent(id)}`,
      }),
    ),
    few(
      upstreams.data,
      ({ id, name, baseUrl }) => [id, name, baseUrl],
      ({ id, name }) => ({
        key: `upstream ${id}`,
        icon: 'upstreams',
        text: name,
        note: words.upstream,
        go: `/admin/upstreams#upstream-${id}`,
      }),
    ),
    few(
      groups.data,
      ({ name }) => [name],
      ({ id, name }) => ({ key: `group ${id}`, icon: 'group', text: name, note: words.group, go: `/admin/capabilities?groupId=${id}` }),
    ),
  ].flat();
  return {
    found: inOrder(now.words, ids, verbsFor([...places, ...common], now.words), named),
    busy: [applications, users, capabilities, upstreams, groups].some(({ isFetching }) => isFetching) || asked.words !== now.words,
  };
}
