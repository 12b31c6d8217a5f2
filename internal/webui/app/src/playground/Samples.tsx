import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Code } from '../ui/Copy';
import type { Draft } from './request';
import { languages, sample, type SampleLanguage } from './samples';

/** The same request as a program in four languages; follows each edit. */
export function Samples({ base, capabilityId, draft }: { base: string; capabilityId: string; draft: Draft }) {
  const { t } = useTranslation(['playground', 'common']);
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  return (
    <section className="block" aria-label={t('samples')}>
      <div className="block-head">
        <h2>{t('samples')}</h2>
        <div className="choice" role="group" aria-label={t('samples')}>
          {languages.map((one) => <button key={one} type="button" aria-pressed={one === language} onClick={() => setLanguage(one)}>{t(`languages.${one}`)}</button>)}
        </div>
      </div>
      <div className="stack">
        <Code text={sample(language, base, capabilityId, draft)} />
        <p className="meta">{t('sampleKey')}</p>
      </div>
    </section>
  );
}
