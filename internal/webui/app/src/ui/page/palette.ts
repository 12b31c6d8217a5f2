/** The colours of the pages, once: the build writes them as CSS variables, Ant Design and the charts take them from here. */
export const palettes = {
  light: {
    canvas: '#F7F8FA',
    surface: '#FFFFFF',
    text: '#1A1D21',
    second: '#565D67',
    edge: '#868E99',
    line: '#E3E6EA',
    hover: '#F0F2F5',
    primary: '#1F5FD6',
    onPrimary: '#FFFFFF',
    primaryBg: '#E9F0FD',
    ok: '#0B6B43',
    okBg: '#E6F5EE',
    failed: '#B42318',
    failedBg: '#FDECEA',
    warn: '#8A4B00',
    warnBg: '#FFF3DF',
    bar: '#3B74E0',
    barFailed: '#C4372A',
    previous: '#7A828E',
    shadow: '0 6px 24px rgb(15 18 22 / 14%)',
  },
  dark: {
    canvas: '#0F1216',
    surface: '#171B21',
    text: '#E8EBEF',
    second: '#A3ABB6',
    edge: '#737C88',
    line: '#2A3038',
    hover: '#1F252C',
    primary: '#7FB0FF',
    onPrimary: '#0F1216',
    primaryBg: '#1B2A44',
    ok: '#5CC896',
    okBg: '#12291F',
    failed: '#FF8A80',
    failedBg: '#33191A',
    warn: '#F0B35A',
    warnBg: '#2E2413',
    bar: '#5B93F5',
    barFailed: '#F0776C',
    previous: '#8A93A0',
    shadow: '0 6px 24px rgb(0 0 0 / 50%)',
  },
} as const;

const variables = (of: 'light' | 'dark'): string =>
  Object.entries(palettes[of])
    .map(([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${value};`)
    .join(' ') + ` color-scheme: ${of};`;

/** The palettes as a style sheet: light, dark, and what the system says. */
export const paletteSheet = (): string => `:root { ${variables('light')} }
:root[data-theme='dark'] { ${variables('dark')} }
@media (prefers-color-scheme: dark) { :root[data-theme='system'] { ${variables('dark')} } }
`;
