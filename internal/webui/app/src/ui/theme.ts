import { useSyncExternalStore } from 'react';
import type { ThemeConfig } from 'antd/es/config-provider';
import dark from 'antd/es/theme/themes/dark';
import light from 'antd/es/theme/themes/default';
import { palettes } from './palette';
import { remember, type ThemeChoice } from './preferences';

export { palettes };

const root = document.documentElement;
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());
system.addEventListener('change', tell);

export const themeChoice = (): ThemeChoice => (root.dataset['theme'] ?? 'system') as ThemeChoice;
const isDark = (): boolean => themeChoice() === 'dark' || (themeChoice() === 'system' && system.matches);

export function chooseTheme(theme: ThemeChoice): void {
  root.dataset['theme'] = theme;
  remember({ theme });
  tell();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Whether the page is dark now; follows the choice and the system. */
export const useDark = (): boolean => useSyncExternalStore(subscribe, isDark);
export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, themeChoice);

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif";

type Algorithm = NonNullable<Exclude<ThemeConfig['algorithm'], unknown[]>>;

/** Ant Design mixes new colours from seeds, in the dark especially; the last algorithm pins ours. */
function pinned(isDarkTheme: boolean): Algorithm {
  const p = isDarkTheme ? palettes.dark : palettes.light;
  return (seed, map) => ({
    ...(map ?? light(seed)),
    colorPrimary: p.primary, colorPrimaryHover: p.primary, colorPrimaryActive: p.primary, colorPrimaryBg: p.primaryBg, colorPrimaryBgHover: p.primaryBg,
    colorPrimaryBorder: p.primary, colorPrimaryBorderHover: p.primary, colorPrimaryText: p.primary, colorPrimaryTextHover: p.primary, colorPrimaryTextActive: p.primary,
    colorLink: p.primary, colorLinkHover: p.primary, colorLinkActive: p.primary,
    colorInfo: p.primary, colorInfoBg: p.primaryBg, colorInfoBorder: p.primary,
    colorSuccess: p.ok, colorSuccessBg: p.okBg, colorSuccessBorder: p.ok, colorSuccessText: p.ok,
    colorWarning: p.warn, colorWarningBg: p.warnBg, colorWarningBorder: p.warn, colorWarningText: p.warn,
    colorError: p.failed, colorErrorBg: p.failedBg, colorErrorBorder: p.failed, colorErrorText: p.failed,
    colorErrorHover: p.failed, colorErrorActive: p.failed, colorErrorTextHover: p.failed, colorErrorTextActive: p.failed,
    colorText: p.text, colorTextSecondary: p.second, colorTextTertiary: p.second, colorTextQuaternary: p.second,
    colorBgBase: p.surface, colorBgContainer: p.surface, colorBgElevated: p.surface, colorBgLayout: p.canvas,
    colorBorder: p.edge, colorBorderSecondary: p.line,
  });
}

export function antdTheme(isDarkTheme: boolean): ThemeConfig {
  const p = isDarkTheme ? palettes.dark : palettes.light;
  return {
    algorithm: isDarkTheme ? [dark, pinned(true)] : [light, pinned(false)],
    token: { fontFamily: fonts, fontSize: 14, borderRadius: 6, motionDurationFast: '0.12s', motionDurationMid: '0.16s', motionDurationSlow: '0.2s', motion: !matchMedia('(prefers-reduced-motion: reduce)').matches },
    components: {
      Button: { primaryColor: p.onPrimary, dangerColor: p.onPrimary, primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' },
    },
  };
}
