import type { Schemas } from '../api/client';

type Sought = Pick<Schemas['CapabilityFields'], 'id' | 'name' | 'description' | 'groupId'>;

export interface Section<T extends Sought = Sought> {
  id: string;
  name: string;
  items: T[];
}

/** Capabilities under their groups' headings, in the catalog's order; every word of `text` must be found. */
export function sections<T extends Sought>(capabilities: readonly T[], groups: readonly Schemas['Group'][], text: string): Section<T>[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const names = new Map(groups.map((group) => [group.id, group.name]));
  const found = new Map<string, Section<T>>();
  for (const capability of capabilities) {
    const group = names.get(capability.groupId) ?? capability.groupId;
    const searched = [capability.id, capability.name, capability.description, group].join('\n').toLowerCase();
    if (!words.every((word) => searched.includes(word))) continue;
    const section = found.get(capability.groupId) ?? { id: capability.groupId, name: group, items: [] };
    section.items.push(capability);
    found.set(capability.groupId, section);
  }
  return [...found.values()];
}
