import type { Schemas } from '../api/client';
import { written, type Exact } from '../json/exact';
import type { Draft } from './request';

/** Where a failed call's request is tried again. */
export const replayPath = (applicationId: string, { callId, model }: { callId: string; model: string }): string =>
  `/capabilities/${encodeURIComponent(model)}?tab=try&app=${applicationId}&replay=${callId}`;

// What the record put where it hid or cut something.
const marks = /(\[REDACTED\]|…\(\+\d+\)|"…")/;

/** Percent-encoded as a query needs it, but for the marks, which are to be found again. */
const encoded = (text: string): string =>
  text
    .split(marks)
    .map((part, n) => (n % 2 === 1 ? part : encodeURIComponent(part)))
    .join('');

type Failure = Pick<Schemas['Failure'], 'request' | 'query' | 'bodyNote'>;

/** The request of a failed call as it can be edited and sent again; null where nothing of it was kept. `example` stands for a body that was not. */
export function draftOf({ request, query, bodyNote }: Failure, body: Exact, example: string): Draft | null {
  if (!request) return null;
  const search = Object.entries(query ?? {})
    .filter(([name]) => name !== 'model') // it is the capability's
    .flatMap(([name, values]) => [values].flat().map((value) => `${encoded(name)}=${encoded(value)}`))
    .join('&');
  const kept = bodyNote === null ? written(body, 2) : bodyNote === 'empty' ? '' : example;
  return { path: search === '' ? request.path : `${request.path}?${search}`, body: kept, method: request.method };
}

/** A place of a draft that the record has redacted or cut. */
export interface Gap {
  field: 'path' | 'body';
  /** From and to which character. */
  from: number;
  to: number;
  /** Of the field, from 1. */
  line: number;
}

/** What is still to be filled in before a draft is the request that was made. */
export function gapsOf({ path, body }: Draft): Gap[] {
  const found = (field: Gap['field'], text: string): Gap[] =>
    [...text.matchAll(new RegExp(marks, 'g'))].map((match) => ({
      field,
      from: match.index,
      to: match.index + match[0].length,
      line: text.slice(0, match.index).split('\n').length,
    }));
  return [...found('path', path), ...found('body', body)];
}
