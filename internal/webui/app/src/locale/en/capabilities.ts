import type { Same } from '../same';
import type zh from '../zh/capabilities';

const capabilities: Same<typeof zh> = {
  title: 'Capabilities',
  search: 'Search by name, identifier or description',
  searchKey: 'Press / to search',
  found: '{{n}} found',
  none: 'No capability matches “{{text}}”.',
  clear: 'Clear search',
  empty: 'There are no capabilities yet. Ask your administrator to add one.',
  id: 'Identifier',
  copyId: 'Copy identifier {{id}}',
  back: 'All capabilities',
  disabled: 'An administrator disabled this capability: calls are refused (403) for now, and applications keep their access.',
  tabs: { label: 'View', facts: 'Details', try: 'Try it' },
  facts: {
    title: 'Details',
    group: 'Group',
    model: 'Model in the body',
    path: 'Default path',
    base: 'Base URL',
    address: 'Address to call',
    description: 'Description',
    any: 'not set',
  },
  applications: {
    search: 'Search applications',
    onlyBound: 'Only with access ({{n}} of {{all}})',
    none: 'No application matches.',
    all: 'Show all {{n}}',
    title: 'My applications',
    name: 'Application',
    bound: 'Has access',
    bind: 'Grant access',
    bindTo: 'Grant access to {{name}}',
    done: '{{name}} has access; its calls work within 2 s.',
    empty: 'You have no application yet. Create one with access to this capability.',
    create: 'New application',
  },
};

export default capabilities;
