import { useSyncExternalStore } from 'react';
import type { ThemeConfig } from 'antd/es/config-provider';
import dark from 'antd/es/theme/themes/dark';
import light from 'antd/es/theme/themes/default';
import { remember, type ThemeChoice } from './preferences';

/** The colours of base.css, for Ant Design and the charts. */
export const palettes = {
  light: {
    canvas: '#F7F8FA', surface: '#FFFFFF', text: '#1A1D21', second: '#565D67', edge: '#868E99', line: '#E3E6EA', hover: '#F0F2F5',
    primary: '#1F5FD6', onPrimary: '#FFFFFF', primaryBg: '#E9F0FD', ok: '#0B6B43', okBg: '#E6F5EE', failed: '#B42318', failedBg: '#FDECEA',
    warn: '#8A4B00', warnBg: '#FFF3DF', bar: '#3B74E0', barFailed: '#C4372A', previous: '#7A828E',
  },
  dark: {
    canvas: '#0F1216', surface: '#171B21', text: '#E8EBEF', second: '#A3ABB6', edge: '#737C88', line: '#2A3038', hover: '#1F252C',
    primary: '#7FB0FF', onPrimary: '#0F1216', primaryBg: '#1B2A44', ok: '#5CC896', okBg: '#12291F', failed: '#FF8A80', failedBg: '#33191A',
    warn: '#F0B35A', warnBg: '#2E2413', bar: '#5B93F5', barFailed: '#F0776C', previous: '#8A93A0',
  },
} as const;

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
