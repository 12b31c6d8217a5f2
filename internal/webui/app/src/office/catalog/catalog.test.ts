import { expect, test } from 'vitest';
import { ApiError } from '../../api/error';
import { idsOf, inOrder, moved, placeAt, storeOrder } from './order';
import { changes, finalUrl, fresh, linesOf, members, repeated, sameOrigin, stored } from './settings';

test('a row is moved to its new place and the others keep their order', () => {
  expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
  expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
  expect(moved(['a', 'b', 'c'], 1, -1)).toEqual(['b', 'a', 'c']);
  expect(moved(['a', 'b', 'c'], 1, 9)).toEqual(['a', 'c', 'b']);
});

test('a dragged row belongs below every middle that it passed', () => {
  const middles = [10, 30, 50];
  expect(placeAt(0, middles, 1)).toBe(0);
  expect(placeAt(35, middles, 1)).toBe(1);
  expect(placeAt(60, middles, 1)).toBe(2);
  expect(placeAt(31, middles, 0)).toBe(1);
});

const items = (...ids: string[]) => ids.map((id, n) => ({ id, sortOrder: n + 1, updatedAt: '' }));

/** A server whose list is changed between what is read and what is stored: by each of `meanwhile` in turn. */
function server(read: string[], ...meanwhile: string[][]) {
  const at = (ids: string[], version: number) => items(...ids).map((item) => ({ ...item, updatedAt: String(version) }));
  let [ids, version] = [read, 1];
  return {
    read: at(read, 1),
    put: async (wanted: string[], newest: string) => {
      const change = meanwhile.shift();
      if (change) [ids, version] = [change, version + 1];
      if (newest !== String(version)) throw new ApiError(409, 40902, '', null, null, {}, { items: at(ids, version) });
      [ids, version] = [wanted, version + 1];
      return at(ids, version);
    },
    ids: () => ids,
  };
}

test('an order goes on over edits of something else, and what is new stands at its end', async () => {
  const { read, put, ids } = server(['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'new', 'c']);
  expect(idsOf(await storeOrder(['c', 'b', 'a'], read, [], put))).toEqual(['c', 'a', 'new']);
  expect(ids()).toEqual(['c', 'a', 'new']);
});

test('an order of somebody else is not written over; an own one whose answer was lost is, and one that is wanted itself', async () => {
  const order = (own: string[][], wanted = ['c', 'b', 'a']) => {
    const { read, put } = server(['a', 'b', 'c'], ['b', 'a', 'c']);
    return storeOrder(wanted, read, own, put).then(idsOf);
  };
  await expect(order([])).rejects.toMatchObject({ code: 40902 });
  await expect(order([['b', 'c', 'a']])).rejects.toMatchObject({ code: 40902 });
  expect(await order([['b', 'a', 'c']])).toEqual(['c', 'b', 'a']);
  expect(await order([], ['b', 'a', 'c'])).toEqual(['b', 'a', 'c']);
});

test('a list in the order to come has what is new at its end, and nothing that is gone', () => {
  const list = inOrder(items('a', 'new', 'b'), ['b', 'gone', 'a']);
  expect(list.map(({ id, sortOrder }) => `${id} ${sortOrder}`)).toEqual(['b 1', 'a 2', 'new 3']);
});

test('the final URL is the base with its slash taken off and the path behind it', () => {
  expect(finalUrl('https://api.example.com/', '/v1/chat/completions')).toBe('https://api.example.com/v1/chat/completions');
  expect(finalUrl(' HTTPS://API.Example.com:8443/proxy// ', ' /v1/x')).toBe('https://api.example.com:8443/proxy/v1/x');
  expect(finalUrl('http://[::1]:80/a', '')).toBe('http://[::1]/a');
  expect(finalUrl('http://x.example', '')).toBe('http://x.example/');
  for (const bad of [
    '',
    'api.example.com',
    'ftp://x',
    'https://',
    'https://u:p@x.example',
    'https://x.example?a=1',
    'https://x.example#a',
    'https://x y',
  ])
    expect(finalUrl(bad, '/v1'), bad).toBeNull();
});

test('a part that stands in base and path both is noticed', () => {
  expect(repeated('https://x.example/v1/', '/v1/chat')).toBe('/v1');
  expect(repeated('https://x.example', '/v1/chat')).toBeNull();
  expect(repeated('https://x.example/v1', '')).toBeNull();
});

test('only what differs is sent, and the key only when one was typed', () => {
  const before = stored({
    id: 'a',
    name: 'A',
    groupId: 'g',
    description: '',
    sortOrder: 3,
    status: 'enabled',
    upstreamBaseUrl: 'https://x',
    upstreamAuth: 'bearer',
    upstreamModel: 'm',
    defaultPath: '/v1',
    hasUpstreamKey: true,
    allowedMethods: ['POST'],
    allowedPaths: ['/v1/chat', '/v1/models'],
    upstreams: [{ upstreamId: 'eu', weight: 3, priority: 0, status: 'enabled', health: 'ok' }],
    boundApplicationCount: 0,
    updatedAt: '2026-08-17T09:31:00.000+08:00',
  });
  expect(changes(before, before)).toEqual({});
  expect(changes(before, { ...before, name: 'B', sortOrder: '4' })).toEqual({ name: 'B', sortOrder: 4 });
  expect(changes(before, { ...before, upstreamKey: 'k' })).toEqual({ upstreamKey: 'k' });
  expect(
    changes(before, {
      ...before,
      upstreams: linesOf([...members(before.upstreams), { upstreamId: 'us', weight: '1', priority: '1', status: 'disabled' }]),
    }),
  ).toEqual({
    upstreams: [
      { upstreamId: 'eu', weight: 3, priority: 0, status: 'enabled' },
      { upstreamId: 'us', weight: 1, priority: 1, status: 'disabled' },
    ],
  });
  expect(changes(before, { ...before, upstreams: '' })).toEqual({ upstreams: [] });
  expect(changes(before, { ...before, allowedMethods: 'post, get', allowedPaths: '/v1/chat\n\n /v1/files ' })).toEqual({
    allowedMethods: ['POST', 'GET'],
    allowedPaths: ['/v1/chat', '/v1/files'],
  });
  expect(changes(before, { ...before, allowedMethods: '', allowedPaths: '' })).toEqual({ allowedMethods: [], allowedPaths: [] });
  expect(before.upstreamKey).toBe('');
  expect(fresh('g').upstreamKey).toBe('');
});

test('the stored key is for one scheme, host and port, however they are written', () => {
  expect(sameOrigin('https://api.example.com/v1', ' HTTPS://API.example.com:443/v2')).toBe(true);
  expect(sameOrigin('https://bücher.example', 'https://xn--bcher-kva.example')).toBe(true);
  for (const other of ['http://api.example.com', 'https://api.example.com:8443', 'https://api.example.org', 'https://', ''])
    expect(sameOrigin('https://api.example.com/v1', other), other).toBe(false);
});
