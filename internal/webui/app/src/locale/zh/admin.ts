const admin = {
  band: '管理后台',
  nav: { groups: '分组', capabilities: '能力', audit: '审计' },
} as const;

export default admin;
