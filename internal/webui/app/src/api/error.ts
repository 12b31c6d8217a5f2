/** A management answer that is no success, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when the server was not reached. */
    readonly status: number,
    /** `code` of the envelope; 0 when there was none. */
    readonly code: number,
    /** `msg` of the envelope, in the page's language. */
    message: string,
    readonly requestId: string | null = null,
    /** Seconds to wait, from Retry-After. */
    readonly retryAfter: number | null = null,
    /** Messages per field of the form, from `data.fields`. */
    readonly fields: Record<string, string> = {},
    /** What the object is now, where somebody else has changed it since it was read. */
    readonly current: unknown = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }

  /** Worth another try without the user: not reached, or the server's own trouble. */
  get passing(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

const CHANGED = 40902;

/** The object as it is now, where an edit was refused because somebody else had changed it; else undefined. */
export const changedMeanwhile = <T>(error: unknown): T | undefined =>
  error instanceof ApiError && error.code === CHANGED ? (error.current as T) : undefined;

/** The header by which an edit demands that nobody has changed the object since it was read. */
export const ifUnchanged = (updatedAt: string): { 'If-Match': string } => ({ 'If-Match': `"${updatedAt}"` });

/** Reads an error envelope; whatever else a proxy may answer becomes an error without code. */
export async function errorOf(response: Response): Promise<ApiError> {
  const wait = Number(response.headers.get('Retry-After'));
  const retryAfter = Number.isFinite(wait) && wait > 0 ? wait : null;
  const requestId = response.headers.get('X-Request-Id');
  try {
    const body = (await response.json()) as { code?: number; msg?: string; requestId?: string; data?: unknown };
    const data = body.data as { fields?: Record<string, string> } | null | undefined;
    return new ApiError(
      response.status,
      body.code ?? 0,
      body.msg ?? '',
      body.requestId ?? requestId,
      retryAfter,
      data?.fields ?? {},
      body.code === CHANGED ? data : null,
    );
  } catch {
    return new ApiError(response.status, 0, response.statusText, requestId, retryAfter);
  }
}

/** For what fetch throws: the server was not reached. An abort stays what it is. */
export function unreachable(cause: unknown): unknown {
  if (cause instanceof ApiError || (cause instanceof DOMException && cause.name === 'AbortError')) return cause;
  return new ApiError(0, 0, '');
}
