import { errorOf, unreachable } from '../api/error';
import { currentToken, renew, signedInAgain } from './session';

/**
 * fetch with the token. A 401 renews it once and repeats the request once; where the session is
 * over, the request waits for the dialog and is then sent again, so nothing typed is lost.
 */
export async function send(request: Request): Promise<Response> {
  try {
    const again = request.clone();
    const last = request.clone();
    let response = await attempt(request);
    if (response.status !== 401) return await checked(response);
    if (await renew()) {
      response = await attempt(again);
      if (response.status !== 401) return await checked(response);
      throw await errorOf(response);
    }
    await signedInAgain();
    return await checked(await attempt(last));
  } catch (cause) {
    throw unreachable(cause);
  }
}

function attempt(request: Request): Promise<Response> {
  request.headers.set('Accept-Language', document.documentElement.lang);
  request.headers.set('Authorization', `Bearer ${currentToken()}`);
  return fetch(request);
}

async function checked(response: Response): Promise<Response> {
  if (!response.ok) throw await errorOf(response);
  return response;
}
