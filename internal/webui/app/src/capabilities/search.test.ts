import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { sections } from './search';

const capability = (id: string, groupId: string, name = id, description = ''): Schemas['CapabilityFields'] => ({
  id,
  groupId,
  name,
  description,
  sortOrder: 0,
  status: 'enabled',
  upstreamModel: '',
  defaultPath: '',
});
const updatedAt = '2026-08-17T09:31:00.000+08:00';
const groups = [
  { id: 'g1', name: '对话 Chat', sortOrder: 1, updatedAt },
  { id: 'g2', name: 'Images', sortOrder: 2, updatedAt },
];
const all = [
  capability('gpt-5', 'g1', 'GPT-5', 'general chat'),
  capability('claude-5', 'g1', 'Claude'),
  capability('draw', 'g2', 'Draw', 'pictures'),
  capability('late', 'new'),
];
const ids = (text: string) => sections(all, groups, text).map((section) => [section.name, ...section.items.map((item) => item.id)]);

test('capabilities stand under their groups in the order of the catalog', () => {
  expect(ids('')).toEqual([
    ['对话 Chat', 'gpt-5', 'claude-5'],
    ['Images', 'draw'],
    ['new', 'late'],
  ]);
});

test('a search finds words of name, identifier, description and group in any case', () => {
  expect(ids('GPT general')).toEqual([['对话 Chat', 'gpt-5']]);
  expect(ids('对话')).toEqual([['对话 Chat', 'gpt-5', 'claude-5']]);
  expect(ids(' pictures ')).toEqual([['Images', 'draw']]);
  expect(ids('gpt pictures')).toEqual([]);
});
