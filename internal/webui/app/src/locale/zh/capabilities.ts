const capabilities = {
  title: '能力',
  search: '按名称、标识或说明搜索',
  searchKey: '按 / 搜索',
  found: '{{n}} 项',
  none: '没有匹配“{{text}}”的能力。',
  clear: '清除搜索',
  empty: '还没有可用的能力，请联系管理员添加。',
  id: '标识',
  copyId: '复制标识 {{id}}',
  back: '全部能力',
  disabled: '管理员已停用这项能力：现在的调用会被拒绝（403），已有的绑定会保留。',
  tabs: { label: '视图', facts: '详情', try: '试用' },
  facts: { title: '详情', group: '分组', model: '请求体中的模型', path: '默认路径', base: '基础地址', address: '调用地址', description: '说明', any: '未指定' },
  applications: {
    search: '搜索应用',
    onlyBound: '只看已绑定（{{n}} / {{all}}）',
    none: '没有匹配的应用。',
    all: '显示全部 {{n}} 个',
    title: '我的应用', name: '应用', bound: '已绑定', bind: '绑定', bindTo: '绑定到 {{name}}', done: '已绑定到 {{name}}，2 秒内生效。', empty: '你还没有应用。新建一个并绑定这项能力。', create: '新建应用' },
} as const;

export default capabilities;
