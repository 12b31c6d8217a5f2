import { useDeferredValue } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { TABS } from '../applications/tabs';
import { capabilityQueries } from '../capabilities/queries';
import { sections } from '../capabilities/search';
import { useFormat } from '../format/useFormat';
import { read } from './asked';
import { fits, inOrder, MOST, verbsFor, type Found } from './found';
import { Palette } from './Palette';
import { places } from './places';
import { findQueries } from './queries';
import { useCommonVerbs } from './useCommonVerbs';
import { tabNamed } from './verbs';
import { words } from './words';

/** The console's search: own calls, applications with their parts, capabilities, and what can be done. */
export default function ConsolePalette(props: { onClose: () => void; onShortcuts: () => void }) {
  return <Palette {...props} useFound={useFound} nothing={words.nothing} />;
}

type Tab = (typeof TABS)[number];

const tabPath = (id: string, tab: Tab): string => (tab === 'calls' ? `/applications/${id}/calls` : `/applications/${id}?tab=${tab}`);

const tabOf = ({ id, name }: { id: string; name: string }, tab: Tab): Found => ({
  key: `application ${id} ${tab}`,
  icon: 'right',
  text: words.tabOf.replace('{{tab}}', words.tabs[tab]).replace('{{name}}', () => name),
  note: words.application,
  go: tabPath(id, tab),
});

/** A name and the part of an application that its last word means: `search keys`. */
function partOf(typed: string): { name: string; tab: Tab | undefined } {
  const at = typed.lastIndexOf(' ');
  const tab = at < 0 ? undefined : tabNamed(typed.slice(at), TABS);
  return { name: tab === undefined ? '' : typed.slice(0, at).trim(), tab };
}

/** What there is under a text: what an id leads to and what can be done is known at once, the rest is asked for. */
function useFound(text: string, onShortcuts: () => void): { found: Found[]; busy: boolean } {
  const { t } = useTranslation();
  const format = useFormat();
  const common = useCommonVerbs(onShortcuts);
  const asked = read(useDeferredValue(text));
  const now = read(text);
  const [trace] = asked.traces;
  const named = asked.words !== '';
  const part = partOf(asked.words);
  const calls = useQuery({ ...findQueries.trace(trace ?? ''), enabled: trace !== undefined });
  const applications = useQuery({
    ...findQueries.applications(asked.words),
    enabled: named && trace === undefined,
    placeholderData: keepPreviousData,
  });
  const parted = useQuery({ ...findQueries.applications(part.name), enabled: part.tab !== undefined });
  const capabilities = useQuery({ ...capabilityQueries.list(), enabled: named });

  const ids: Found[] = now.ids.map((id) => ({ key: `call ${id}`, icon: 'audit', text: id, note: words.call, go: `/calls/${id}` }));
  if (trace !== undefined)
    for (const call of (calls.data ?? []).slice(0, MOST))
      ids.push({
        key: call.callId,
        icon: call.success ? 'ok' : 'failed',
        text: `${call.application.name} · ${call.model || t('metrics.unspecified')} · ${call.statusCode}`,
        note: format.time(call.startTime),
        go: `/calls/${call.callId}`,
      });
  const rest: Found[] = [];
  if (named) {
    const fitting = trace === undefined ? (applications.data ?? []).filter(({ id, name }) => fits(now.words, name, id)) : [];
    for (const { id, name } of fitting)
      rest.push({ key: `application ${id}`, icon: 'applications', text: name, note: words.application, go: `/applications/${id}` });
    const [only] = fitting;
    if (only && fitting.length === 1) rest.push(...TABS.slice(1).map((tab) => tabOf(only, tab)));
    const { name, tab } = partOf(now.words);
    const others = (parted.data ?? []).filter((one) => fits(name, one.name, one.id) && !fitting.some(({ id }) => id === one.id));
    if (tab !== undefined) rest.push(...others.map((one) => tabOf(one, tab)));
    for (const { id, name } of sections(capabilities.data ?? [], [], now.words)
      .flatMap(({ items }) => items)
      .slice(0, MOST))
      rest.push({
        key: `capability ${id}`,
        icon: 'capabilities',
        text: name,
        note: name === id ? words.capability : `${words.capability} · ${id}`,
        go: `/capabilities/${encodeURIComponent(id)}`,
      });
  }
  return {
    found: inOrder(now.words, ids, verbsFor([...places(), ...common], now.words), rest),
    busy: calls.isFetching || applications.isFetching || parted.isFetching || capabilities.isFetching || asked.words !== now.words,
  };
}
