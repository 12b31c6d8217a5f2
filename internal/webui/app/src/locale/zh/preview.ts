const preview = {
  title: '如果已有此规则',
  looking: '正在查看过去……',
  failed: '现在无法得知过去会触发几次。',
  never: '{{since}}不会触发。',
  once: '{{since}}会触发 1 次。',
  times: '{{since}}会触发 {{n}} 次。',
  month: '最近 30 天',
  from: '自 {{at}} 起',
  ended: '{{at}} 起 {{long}}，最差 {{worst}}',
  still: '{{at}} 至今，最差 {{worst}}',
  ofDay: '{{at}}：{{worst}}',
  ofMonth: '{{at}} 达到，当月共 {{worst}}',
  last: '最近 {{n}} 次如下。',
};

export default preview;
