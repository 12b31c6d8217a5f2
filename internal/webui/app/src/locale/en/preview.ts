import type { Same } from '../same';
import type zh from '../zh/preview';

const preview: Same<typeof zh> = {
  title: 'Had there been this alert',
  looking: 'Looking at what was…',
  failed: 'How often this would have fired cannot be told right now.',
  never: '{{since}} this would not have fired.',
  once: '{{since}} this would have fired once.',
  times: '{{since}} this would have fired {{n}} times.',
  month: 'In the last 30 days',
  from: 'Since {{at}}',
  ended: '{{at}} for {{long}}, {{worst}} at worst',
  still: '{{at}} until now, {{worst}} at worst',
  ofDay: '{{at}}: {{worst}}',
  ofMonth: 'reached on {{at}}, {{worst}} in that month',
  last: 'The last {{n}} of them:',
};

export default preview;
