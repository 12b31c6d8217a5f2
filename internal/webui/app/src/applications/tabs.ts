/** What the page of an application is divided into. Calls are a page of their own. */
export const TABS = ['usage', 'calls', 'keys', 'limits', 'alerts', 'settings'] as const;
type Tab = Exclude<(typeof TABS)[number], 'calls'>;

const anchors: Record<string, Tab> = { '#keys': 'keys', '#limits': 'limits', '#budgets': 'limits' };

/** The tab that a URL names, by itself or by a place that stands in it; else usage. */
export function tabOf(search: URLSearchParams, hash: string): Tab {
  const asked = search.get('tab');
  return TABS.find((one): one is Tab => one === asked && one !== 'calls') ?? anchors[hash] ?? 'usage';
}
