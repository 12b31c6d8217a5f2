import { switchLanguage } from '../locale/locale';
import { signOut } from '../session/session';
import { useTellFault } from '../ui/page/faultText';
import { chooseTheme } from '../ui/page/theme';
import type { Verb } from './verbs';

/** What both sites can be told to do, wherever one is. */
export function useCommonVerbs(onShortcuts: () => void): readonly Verb[] {
  const tell = useTellFault();
  return [
    ...(['light', 'dark', 'system'] as const).map((key): Verb => ({ key, icon: 'theme', go: () => chooseTheme(key) })),
    { key: 'language', icon: 'language', go: switchLanguage },
    { key: 'shortcuts', icon: 'more', go: onShortcuts },
    { key: 'signOut', icon: 'right', go: () => signOut().catch(tell) },
  ];
}
