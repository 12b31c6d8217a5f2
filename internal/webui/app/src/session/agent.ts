/** What signed in, by the names of its maker: those of a browser with its major version. */
export interface Agent {
  browser: string;
  /** Empty where it does not say. */
  system: string;
}

// Each of them also calls itself one of those below it.
const browsers: readonly [name: string, mark: RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\b(?:OPR|OPT|OPX)\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['WeChat', /\bMicroMessenger\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:\b|Headless)(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//],
];
const systems: readonly [name: string, mark: RegExp][] = [
  ['iPadOS', /\biPad\b/],
  ['iOS', /\b(?:iPhone|iPod)\b/],
  ['HarmonyOS', /\b(?:OpenHarmony|HarmonyOS)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** Reads a User-Agent; null for one that is of no browser known here, such as a program's. */
export function agentOf(userAgent: string): Agent | null {
  for (const [name, mark] of browsers) {
    const version = mark.exec(userAgent)?.[1];
    if (version !== undefined) return { browser: `${name} ${version}`, system: systems.find(([, of]) => of.test(userAgent))?.[0] ?? '' };
  }
  return null;
}
