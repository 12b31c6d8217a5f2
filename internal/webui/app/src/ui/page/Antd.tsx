import type { ReactNode } from 'react';
import ConfigProvider, { type ThemeConfig } from 'antd/es/config-provider';
import dark from 'antd/es/theme/themes/dark';
import light from 'antd/es/theme/themes/default';
import { language } from '../../locale/locale';
import { nonce } from './nonce';
import { palettes } from './palette';
import { useDark } from './theme';

const { default: locale } = await (language() === 'en' ? import('antd/es/locale/en_US') : import('antd/es/locale/zh_CN'));

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif";

/**
 * Around dialogs, drawers, calendars and one-time codes, which are Ant Design's: its words in the page's language, our
 * colours. It comes with the first of them, and is not waited for by a page that has none.
 */
export function Antd({ children }: { children: ReactNode }) {
  return (
    <ConfigProvider locale={locale} theme={useDark() ? themes.dark() : themes.light()} csp={{ nonce }} button={{ autoInsertSpace: false }}>
      {children}
    </ConfigProvider>
  );
}

type Algorithm = NonNullable<Exclude<ThemeConfig['algorithm'], unknown[]>>;

/** Ant Design mixes new colours from seeds, in the dark especially; the last algorithm pins ours. */
function pinned(isDarkTheme: boolean): Algorithm {
  const p = isDarkTheme ? palettes.dark : palettes.light;
  return (seed, map) => ({
    ...(map ?? light(seed)),
    colorPrimary: p.primary,
    colorPrimaryHover: p.primary,
    colorPrimaryActive: p.primary,
    colorPrimaryBg: p.primaryBg,
    colorPrimaryBgHover: p.primaryBg,
    colorPrimaryBorder: p.primary,
    colorPrimaryBorderHover: p.primary,
    colorPrimaryText: p.primary,
    colorPrimaryTextHover: p.primary,
    colorPrimaryTextActive: p.primary,
    colorLink: p.primary,
    colorLinkHover: p.primary,
    colorLinkActive: p.primary,
    colorInfo: p.primary,
    colorInfoBg: p.primaryBg,
    colorInfoBorder: p.primary,
    colorSuccess: p.ok,
    colorSuccessBg: p.okBg,
    colorSuccessBorder: p.ok,
    colorSuccessText: p.ok,
    colorWarning: p.warn,
    colorWarningBg: p.warnBg,
    colorWarningBorder: p.warn,
    colorWarningText: p.warn,
    colorError: p.failed,
    colorErrorBg: p.failedBg,
    colorErrorBorder: p.failed,
    colorErrorText: p.failed,
    colorErrorHover: p.failed,
    colorErrorActive: p.failed,
    colorErrorTextHover: p.failed,
    colorErrorTextActive: p.failed,
    colorText: p.text,
    colorTextSecondary: p.second,
    colorTextTertiary: p.second,
    colorTextQuaternary: p.second,
    colorBgBase: p.surface,
    colorBgContainer: p.surface,
    colorBgElevated: p.surface,
    colorBgLayout: p.canvas,
    colorBorder: p.edge,
    colorBorderSecondary: p.line,
  });
}

/**
 * Each theme is made once: another object in a render, though it said the same, would have Ant Design compute its
 * tokens and write out its styles again.
 */
const themes = { light: once(() => themeOf(false)), dark: once(() => themeOf(true)) };

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function themeOf(isDarkTheme: boolean): ThemeConfig {
  const p = isDarkTheme ? palettes.dark : palettes.light;
  return {
    // The variables of one name for all that is opened: under names of their own each had its styles written again.
    cssVar: { key: isDarkTheme ? 'ant-dark' : 'ant-light' },
    algorithm: isDarkTheme ? [dark, pinned(true)] : [light, pinned(false)],
    token: {
      fontFamily: fonts,
      fontSize: 14,
      borderRadius: 6,
      motionDurationFast: '0.12s',
      motionDurationMid: '0.16s',
      motionDurationSlow: '0.2s',
      motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    },
    components: {
      DatePicker: { colorTextLightSolid: p.onPrimary },
      Button: { primaryColor: p.onPrimary, dangerColor: p.onPrimary, primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' },
    },
  };
}
