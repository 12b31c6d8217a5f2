import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Code } from '../ui/Copy';
import type { Draft } from './request';
import { clientSample, clientsOf, type ClientSample } from './clients';
import { languages, sample, type SampleLanguage } from './samples';

const isLanguage = (one: SampleLanguage | ClientSample): one is SampleLanguage => (languages as readonly string[]).includes(one);

const isSdk = (one: ClientSample): boolean => one === 'openai' || one === 'anthropic' || one === 'google';

/** The same request as a program in four languages, by its provider's SDK, and for a tool; follows each edit. */
export function Samples({ base, capabilityId, draft }: { base: string; capabilityId: string; draft: Draft }) {
  const { t } = useTranslation(['playground', 'common']);
  const [chosen, setChosen] = useState<SampleLanguage | ClientSample>('curl');
  const all = [...languages, ...clientsOf(draft.path)];
  const shown = all.includes(chosen) ? chosen : 'curl'; // another path, another SDK
  return (
    <section className="block" aria-label={t('samples')}>
      <div className="block-head">
        <h2>{t('samples')}</h2>
        <div className="choice wraps" role="group" aria-label={t('samples')}>
          {all.map((one) => (
            <button key={one} type="button" aria-pressed={one === shown} onClick={() => setChosen(one)}>
              {t(`languages.${one}`)}
            </button>
          ))}
        </div>
      </div>
      <div className="stack">
        <Code text={isLanguage(shown) ? sample(shown, base, capabilityId, draft) : clientSample(shown, base, capabilityId, draft)} />
        <p className="meta">
          {t('sampleKey')}
          {!isLanguage(shown) && ` ${t(shown === 'baseUrl' ? 'sampleTool' : isSdk(shown) ? 'sampleSdk' : 'sampleAgent')}`}
        </p>
      </div>
    </section>
  );
}
