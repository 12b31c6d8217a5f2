import './nonce';
import 'virtual:palette.css';
import './base.css';
import { StrictMode, type ReactNode } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { startLocale } from '../../locale/locale';
import { withoutWords } from '../../locale/without';
import { onForget, type Site } from '../../session/session';
import { reloadOnce } from './chunks';
import { createQueryClient } from './queries';

/** Starts one of the two sites once its words are there. */
export async function startSite(site: Site, page: ReactNode): Promise<void> {
  const client = createQueryClient();
  onForget(() => client.clear());
  try {
    await startLocale(site);
  } catch {
    await reloadOnce();
    return tellWithoutWords();
  }
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={client}>{page}</QueryClientProvider>
    </StrictMode>,
  );
}

function tellWithoutWords(): void {
  const place = document.getElementById('root')!;
  const text = document.createElement('p');
  text.textContent = withoutWords.text;
  const again = document.createElement('button');
  again.type = 'button';
  again.className = 'quiet';
  again.dataset['edge'] = 'true';
  again.textContent = withoutWords.retry;
  again.onclick = () => location.reload();
  place.className = 'fault';
  place.setAttribute('role', 'alert');
  place.replaceChildren(text, again);
}
