import { ApiError, errorOf, unreachable } from '../api/error';
import { currentToken, currentTurn, renew, signedInAgain } from './session';

/**
 * fetch with the token. A 401 renews it once and repeats the request once; where the session is
 * over, the request waits for the dialog and is then sent again, so nothing typed is lost. What
 * somebody who has left asked for is never sent as the next person.
 */
export async function send(request: Request): Promise<Response> {
  const turn = currentTurn();
  try {
    const again = request.clone();
    const last = request.clone();
    let response = await attempt(request, turn);
    if (response.status !== 401) return await checked(response);
    const refused = await errorOf(response);
    if (turn !== currentTurn()) throw refused;
    if (await renew()) {
      response = await attempt(again, turn);
      if (response.status !== 401) return await checked(response);
      throw await errorOf(response);
    }
    await signedInAgain();
    return await checked(await attempt(last, turn));
  } catch (cause) {
    throw unreachable(cause);
  }
}

function attempt(request: Request, turn: number): Promise<Response> {
  if (turn !== currentTurn()) throw new ApiError(401, 40102, '');
  request.headers.set('Accept-Language', document.documentElement.lang);
  request.headers.set('Authorization', `Bearer ${currentToken()}`);
  return fetch(request);
}

async function checked(response: Response): Promise<Response> {
  if (!response.ok) throw await errorOf(response);
  return response;
}
