const overview = {
  title: '总览',
  apps: '应用数',
  appsEnabled: '{{n}} 个启用',
  complete: '数据完整至 {{time}}',
  late: '数据滞后：此后结束的调用尚未计入。',
  since: '自 {{time}} 开始采集',
  kept: '只保留 {{day}} 起的记录',
  unrecorded: '这段时间没有记录：记录从 {{day}} 开始。',
  missed: '{{n}} 次漏记',
  missedWhy: '写入故障期间可能漏记，统计不作为计费依据。',
  basis: '与 {{span}} 对比，不含今天',
  capability: '能力',
  byCapability: '按能力统计',
  daily: '每日趋势',
  openDay: '点击某天查看当天',
  empty: {
    title: '三步开始',
    create: '新建应用并绑定能力，得到 Access Key。',
    call: '复制这段 curl，换上你的 Access Key 调用一次。',
    watch: '两秒内就能在这里看到这次调用。',
    button: '新建应用',
    noCapability: '管理员还没有提供能力。',
    noCalls: '这段时间没有调用。复制下面的 curl 试一次；应用详情里有填好的命令。',
    toApplications: '选择应用',
  },
} as const;

export default overview;
