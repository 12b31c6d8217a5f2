import './nonce';
import 'virtual:palette.css';
import './base.css';
import { StrictMode, useState, type ReactNode } from 'react';
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import ConfigProvider from 'antd/es/config-provider';
import { createRoot } from 'react-dom/client';
import { componentLocale, startLocale } from '../locale/locale';
import { withoutWords } from '../locale/without';
import { startSession, type Site } from '../session/session';
import { reloadOnce } from './chunks';
import { nonce } from './nonce';
import { createQueryClient } from './queries';
import { antdTheme, useDark } from './theme';

function Providers({ client, children }: { client: QueryClient; children: ReactNode }) {
  const dark = useDark();
  const [locale] = useState(componentLocale);
  return (
    <ConfigProvider locale={locale} theme={antdTheme(dark)} csp={{ nonce }} button={{ autoInsertSpace: false }}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </ConfigProvider>
  );
}

/** Starts one of the two sites: session and language beside each other, then the page. */
export async function start(site: Site, page: ReactNode): Promise<void> {
  const client = createQueryClient();
  startSession(site, () => client.clear());
  try {
    await startLocale();
  } catch {
    await reloadOnce();
    return tellWithoutWords();
  }
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <Providers client={client}>{page}</Providers>
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
  place.append(text, again);
}
