import type { Schemas } from '../api/client';

export type Status = Schemas['ApplicationStatus'];

interface Known {
  id?: unknown;
  status?: unknown;
  items?: unknown;
  application?: unknown;
}

/** The same answer of the server with another status of one application, wherever it stands in it. */
export function withStatus<T>(answer: T, id: string, status: Status): T {
  if (typeof answer !== 'object' || answer === null) return answer;
  const known = answer as Known;
  if (known.id === id && known.status !== undefined) return { ...answer, status };
  if (Array.isArray(known.items)) return { ...answer, items: known.items.map((item: unknown) => withStatus(item, id, status)) };
  if (known.application !== undefined) return { ...answer, application: withStatus(known.application, id, status) };
  return answer;
}
