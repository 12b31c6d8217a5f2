const session = {
  about: '每个应用一把 Access Key，调用所有模型服务，每次调用都有精确统计。',
  title: '登录',
  office: '管理后台',
  email: '邮箱',
  emailBad: '请输入有效的邮箱地址。',
  send: '发送验证码',
  sent: '如果 {{email}} 可以登录，验证码已发出。',
  code: '6 位验证码',
  digit: '第 {{n}} 位',
  resend: '重新发送',
  resendIn: '重新发送 ({{seconds}} 秒)',
  change: '更换邮箱',
  wrong: '验证码不正确或已过期。',
  company: '使用{{name}}登录',
  companyFailed: '公司登录没有成功，请重试。',
  companyTab: '在新标签页中打开；在那里登录后，本页自动继续。',
  or: '或',
  expired: '登录已过期，请重新登录。已填写的内容都还在。',
  why: { ended: '登录会话已结束，请重新登录。', otherTab: '你已在另一个标签页退出登录。', next: '请先登录，之后会打开你要访问的页面。' },
  starting: '正在登录',
} as const;

export default session;
