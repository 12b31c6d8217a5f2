import officeCatalog from './officeCatalog';
import officeUpstreams from './officeUpstreams';
import officeMoney from './officeMoney';
import officePeople from './officePeople';

/** The back office. */
const admin = {
  band: '管理后台',
  nav: {
    health: '健康',
    usage: '用量',
    explore: '探索',
    catalog: '目录',
    people: '谁在调用',
    operation: '运行',
    applications: '应用',
    users: '用户',
    calls: '查找调用',
    reconcile: '对账',
    groups: '分组',
    capabilities: '能力',
    upstreams: '上游',
    prices: '价格',
    limits: '限额',
    budgets: '预算',
    alerts: '告警',
    spools: '数据采集',
    audit: '审计',
  },
  ...officeCatalog,
  ...officeUpstreams,
  ...officeMoney,
  ...officePeople,
} as const;

export default admin;
