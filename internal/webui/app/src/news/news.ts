import type { Language } from '../format/format';
import { NEWEST } from './newest';

/** One thing that is new, for those who use it; `to` is the page where it stands. */
export interface Item {
  to?: string;
  words: Record<Language, readonly [title: string, text: string]>;
}

/** What came on a day: to the console, and to the back office, which alone tells it. */
export interface Entry {
  day: string;
  console: readonly Item[];
  office: readonly Item[];
}

const item = (en: readonly [string, string], zh: readonly [string, string], to?: string): Item => ({
  words: { en, 'zh-CN': zh },
  ...(to === undefined ? {} : { to }),
});

/** All there is to tell, newest first: a release adds an entry here, and its day to newest.ts. */
export const news: readonly Entry[] = [
  {
    day: NEWEST,
    console: [
      item(
        [
          'Search does things',
          'Ctrl or ⌘ with K, or /: type what you want, such as “failed”, “new alert” or “dark”, in English or Chinese. A name and a part of it, such as “reports keys”, goes straight there.',
        ],
        [
          '搜索即操作',
          '按 Ctrl 或 ⌘ 加 K，或按 /，输入想做的事，例如“失败”“新建告警”“深色”，中英文均可。输入名称加上其中一部分，例如“报表 密钥”，可直接打开。',
        ],
      ),
      item(
        [
          'An alert from what you see',
          'Alert on this… makes an alert of what Explore shows, with a threshold half above what is usual. Every form of an alert tells when it would have fired in the last 30 days, as you type.',
        ],
        [
          '从所见建立告警',
          '在“探索”中点击“据此告警…”即可按所示指标建立告警，并建议比平常高出一半的阈值。编辑告警时会随输入显示最近 30 天它会触发几次、在何时。',
        ],
        '/explore',
      ),
      item(
        [
          'Drag to narrow',
          'Drag across the days of a chart, and the page shows those days; across the hours of a day, and you see their calls. Escape leaves all as it was.',
        ],
        ['拖动即可缩小范围', '在图表上横向拖过几天，页面即显示这几天；拖过一天中的几个小时，即可查看其间的调用。按 Escape 取消。'],
        '/',
      ),
      item(
        [
          'What capabilities cost',
          'Each capability tells its price of today, how your own calls of the last 7 days went, and which of your applications have it. Order them by any of it.',
        ],
        ['能力的价格', '每项能力都会显示今日价格、你自己最近 7 天的调用情况，以及哪些应用已绑定。可按其中任意一项排序。'],
        '/capabilities',
      ),
      item(
        [
          'Tables as files',
          'Every table of figures and every list can be saved as CSV: all of it, not the page shown, with exact values under the API’s names.',
        ],
        ['表格可下载', '每张数据表和每个列表都可以下载为 CSV：包含全部行而不只是当前页，列名与 API 一致，数值不做舍入。'],
      ),
      item(
        [
          'What upstreams said',
          'Failures by the words of the upstream, whatever the numbers in them: how often, which application most, since when, and whether it still happens. A click lists exactly these calls.',
        ],
        ['上游怎么说', '按上游的原话归并失败，忽略其中的数字：多少次、影响哪个应用最多、从何时开始、是否仍在发生。点击即可列出这些调用。'],
        '/calls',
      ),
      item(
        [
          'Where the time of a call went',
          'Each call shows its attempts, the wait for the first byte and the end as bars. And on slow lines the first figures stand in half the time.',
        ],
        ['调用的时间花在哪里', '每次调用以条形显示各次尝试、等待首字节与结束的时间。慢速网络下，首批数据的显示时间减半。'],
      ),
    ],
    office: [
      item(
        [
          'Explore all calls',
          'One metric of the calls of all owners, by owner, application, capability, upstream or what became of them, by hour to week and against another range, with the way to the figures.',
        ],
        [
          '探索全部调用',
          '按所有者、应用、能力、上游或调用结果查看所有调用的任一指标，按小时至周展示，可与其他时段对比，并可进入相应统计。',
        ],
        '/admin/explore',
      ),
      item(
        [
          'Search, and a person who leaves',
          'Ctrl or ⌘ with K, or /, finds calls, everybody’s applications, users, the catalog and what can be done. Users have Move applications, which gives all of theirs to another owner.',
        ],
        [
          '搜索，以及人员离开',
          '按 Ctrl 或 ⌘ 加 K，或按 /，可查找调用、所有人的应用、用户、目录与操作。“用户”中的“移交应用”可将其全部应用移交给其他所有者。',
        ],
        '/admin/users',
      ),
    ],
  },
  {
    day: '2026-11-27',
    console: [
      item(
        [
          'Calls of all applications',
          'Who failed between two and three? One list of the calls of all your applications, with how many each filter would find, columns to choose, up to a hundred a page, and as CSV.',
        ],
        [
          '全部应用的调用',
          '两点到三点之间谁失败了？一个列表汇集您所有应用的调用：显示各筛选项对应的调用数，可选择列，每页最多一百条，并可下载 CSV。',
        ],
        '/calls',
      ),
      item(
        [
          'Months, and an order of your own',
          'Every range has This month and Last month (keys M and L), compared with the same days of the month before. Heads of tables sort. The page of an application has tabs: usage, calls, keys, limits and budgets, alerts, settings.',
        ],
        [
          '按月查看，自选排序',
          '时间范围新增“本月”和“上月”（快捷键 M、L），并与上月同期对比。点击表头即可排序。应用页面分为用量、调用、密钥、限额与预算、告警和设置。',
        ],
        '/applications',
      ),
      item(
        [
          'Explore',
          'Which capability costs most this month, against the last one? One metric of your calls by application, capability, key, tag, user or reason, over time, and as CSV.',
        ],
        ['探索', '本月哪项能力花费最多，与上月相比如何？按应用、能力、密钥、标签、用户或失败原因查看任一指标随时间的变化，并可下载 CSV。'],
        '/explore',
      ),
      item(
        [
          'Management tokens',
          'Scripts and dashboards no longer need your sign-in: make them a token that reads, or one of full access, for 30, 90 or 366 days. Revoked, it is refused at the next request.',
        ],
        ['管理令牌', '脚本和看板不再需要你的登录：为它们创建只读或完全权限的令牌，有效期 30、90 或 366 天。吊销后，下一个请求即被拒绝。'],
        '/tokens',
      ),
      item(
        [
          'Tags and users',
          'Send X-Callgate-Tags: team=search, feature=rag and X-Callgate-User with a call, and it is found by them: open a call and click a tag. Neither goes to the upstream.',
        ],
        [
          '标签与用户',
          '调用时附带 X-Callgate-Tags: team=search, feature=rag 和 X-Callgate-User，即可按标签和用户查找调用：打开一次调用并点击标签。两者都不会发送给上游。',
        ],
        '/applications',
      ),
      item(
        [
          'What each key did',
          'An application with several keys shows calls, success rate, tokens, cost and last use by key. A row leads to its calls, which can be narrowed by key.',
        ],
        [
          '按密钥统计',
          '应用有多个密钥时，会按密钥列出调用量、成功率、Token、费用和最近使用时间。点击一行可查看该密钥的调用；调用列表也可按密钥筛选。',
        ],
        '/applications',
      ),
      item(
        [
          'Budgets',
          'Say what an application or a key may cost in a day, a week or a month: you are told by mail, or calls are refused once it is used up. A budget can be raised for a time.',
        ],
        ['预算', '为应用或密钥设置每天、每周或每月的花费：用完时邮件提醒，或拒绝调用。预算可以临时提高。'],
        '/budgets',
      ),
      item(
        [
          'Limits for single keys',
          'Each key of an application can have limits of its own, beneath the application’s. The list of keys shows what is used; programs ask with GET /gateway/v1/usage.',
        ],
        ['单个密钥的限额', '应用的每个密钥都可以在应用的限额之内另设限额。密钥列表会显示用量；程序可通过 GET /gateway/v1/usage 查询。'],
        '/applications',
      ),
      item(
        [
          'Firing alerts everywhere',
          'A number beside Alerts says how many fire; the overview and the application’s page name them. Deliveries open beneath their alert.',
        ],
        ['处处可见的告警', '“告警”旁的数字表示正在告警的数量；总览和应用页会列出它们的名称。发送记录就在告警下方展开。'],
        '/alerts',
      ),
      item(
        [
          'Limits count what was used',
          'What is reserved for calls is no longer shown as used. Tokens of answers that do not tell are estimated, stay charged and are shown apart.',
        ],
        ['限额只计实际使用', '为调用预留的部分不再显示为已用。响应未报告用量时按估算计入，并单独显示。'],
        '/applications',
      ),
      item(
        [
          'Clients and agents',
          'Try it has lines for more tools. Our errors have the shape that each client shows, and a used-up day is not retried.',
        ],
        ['客户端与智能体', '“试用”提供更多工具的写法。错误采用各客户端能够显示的格式；当日额度用尽后不会再自动重试。'],
        '/capabilities',
      ),
      item(
        ['Rotating a key', 'The old key stays valid for a day unless you choose otherwise, and is marked as old.'],
        ['轮换密钥', '除非另行选择，旧密钥继续有效一天，并标为旧密钥。'],
      ),
    ],
    office: [
      item(
        [
          'Applications change hands',
          'An application can be moved to another owner with its keys, limits and figures, while calls go on. Both owners are told by mail.',
        ],
        ['移交应用', '应用可连同密钥、限额与统计一起移交给其他所有者，调用不中断，双方都会收到邮件。'],
        '/admin/applications',
      ),
      item(
        [
          'Budgets of owners and capabilities',
          'Bound what an owner’s applications or a capability’s calls may cost, see which budgets are nearly or all used up, and which applications spend without one.',
        ],
        ['所有者与能力的预算', '限定某个所有者的全部应用或某个能力的花费，查看哪些预算即将或已经用完，哪些应用没有预算。'],
        '/admin/budgets',
      ),
      item(
        [
          'Disabling ends what runs',
          'When you disable an application or a capability, its running calls end within 2 s unless you leave them on.',
        ],
        ['停用时结束进行中的调用', '停用应用或能力时，进行中的调用会在 2 秒内结束，也可选择保留。'],
        '/admin/applications',
      ),
      item(
        [
          'Invoices as providers export them',
          'Files of OpenAI, Anthropic, DeepSeek and OpenRouter are read as they are; the table begins with what differs.',
        ],
        ['直接读取供应商账单', '可直接读取 OpenAI、Anthropic、DeepSeek 和 OpenRouter 导出的文件；表格先列出有差异的行。'],
        '/admin/reconcile',
      ),
      item(
        [
          'One total, and costs that providers tell',
          'Enter rates between currencies and costs also have one total. Where a provider says what a call costs, you can have it believed.',
        ],
        ['费用合计与服务商告知的费用', '录入汇率后，费用还会有一个合计。服务商在应答中告知费用的，可以选择采信。'],
        '/admin/prices',
      ),
    ],
  },
  {
    day: '2026-11-23',
    console: [
      item(
        [
          'From a figure to its calls',
          'Every count of calls opens exactly those calls. Filter by time of day, capability, result, reason, status or the upstream’s words, save as CSV, and share the address: it holds the filter.',
        ],
        [
          '从数字直达调用',
          '每个调用数都能打开对应的调用。可按时刻、能力、结果、原因、状态码或上游原话筛选，导出 CSV；筛选条件就在网址里，可直接分享。',
        ],
        '/applications',
      ),
      item(
        [
          'Search',
          'Press / or Ctrl K (⌘K) and paste a call id or trace id, or type the name of an application or a capability. ? lists all keys.',
        ],
        ['搜索', '按 / 或 Ctrl K（⌘K），粘贴流水号或 Trace ID，或输入应用、能力的名称。按 ? 查看全部快捷键。'],
      ),
      item(
        [
          'Why calls failed',
          'Overview and application pages rank the reasons of a range and name what needs attention first. A single day is shown by the hour.',
        ],
        ['失败原因', '总览和应用页按原因排列一段时间内的失败，并指出最需要处理的一项。选择单日时按小时显示。'],
        '/',
      ),
      item(
        ['Repeat a failed call', 'Takes the request of a failed call to Try it; what was redacted is marked for you to fill in.'],
        ['重试失败的调用', '把失败调用的请求带到“试用”，已脱敏之处标出，由您补全。'],
      ),
      item(
        [
          'Alerts',
          'On failure rate, missing calls, duration, tokens, cost, a limit that runs out or a key about to expire. By mail, signed webhook, Feishu, DingTalk, WeCom or Slack; told once when it begins and once when it is over.',
        ],
        [
          '告警',
          '可监控失败率、无调用、耗时、Token、费用、限额将尽和密钥到期；通过邮件、带签名的 Webhook、飞书、钉钉、企业微信或 Slack 通知，触发和恢复各一次。',
        ],
        '/alerts',
      ),
      item(
        [
          'Closed days',
          'An alert of its own tells what each Beijing day came to once all its calls are in, and corrects it when calls come late.',
        ],
        ['日结', '北京时间每天的全部调用到齐后，由一种告警发送当日合计；有迟到的调用时会更正。'],
        '/alerts',
      ),
      item(
        [
          'Limits',
          'On an application’s page: requests and tokens per minute, calls in flight, calls and tokens per day, with what is used of each.',
        ],
        ['限额', '在应用页设置每分钟请求数和 Token 数、并发调用数、每日调用数和 Token 数，并显示已用多少。'],
        '/applications',
      ),
      item(
        [
          'Several keys',
          'Up to five keys for an application, each with its own end and allowed addresses. A rotated key may stay valid for a while.',
        ],
        ['多个密钥', '每个应用最多五个密钥，可分别设置到期时间和允许的地址；轮换后旧密钥可再保留一段时间。'],
        '/applications',
      ),
      item(
        [
          'More samples',
          'Try it writes code for the SDKs of OpenAI, Anthropic and Google, and settings for tools that take only a base URL and a key.',
        ],
        ['更多示例', '“试用”提供 OpenAI、Anthropic 和 Google SDK 的代码，以及只接受基础网址和密钥的工具的设置。'],
        '/capabilities',
      ),
      item(
        [
          'Where you are signed in',
          'Sessions, in the account’s menu, lists each browser with its last use. End one, or all but this browser’s.',
        ],
        ['登录在何处', '账户菜单中的“登录会话”列出每个浏览器及其最近使用时间，可结束其中一个，或结束本浏览器以外的全部会话。'],
        '/sessions',
      ),
    ],
    office: [
      item(
        ['Health', 'What fails now, since when, whom it hits and why, with the capabilities of the last hour.'],
        ['健康状况', '当前哪些能力失败、从何时开始、影响谁、为什么，以及过去一小时各能力的情况。'],
        '/admin',
      ),
      item(
        [
          'Usage',
          'Calls, failures, tokens and cost of all applications, by capability, owner and application; each capability has a page of its own.',
        ],
        ['用量', '全部应用的调用、失败、Token 和费用，按能力、所有者和应用列出；每个能力有自己的统计页。'],
        '/admin/usage',
      ),
      item(
        [
          'Applications and users',
          'Disable an application with a reason that its owner reads; see sign-ins of a user and end all sessions.',
        ],
        ['应用与用户', '停用应用并写明原因，所有者可以看到；查看用户的登录情况，结束其全部会话。'],
        '/admin/applications',
      ),
      item(
        ['Find a call', 'The facts of any call by its X-Call-Id or trace id, never what was sent or answered.'],
        ['查找调用', '按流水号（X-Call-Id）或 Trace ID 查看任一调用的事实，不含请求和应答内容。'],
        '/admin/calls',
      ),
      item(
        [
          'Several upstreams',
          'A capability may use several upstreams by priority and weight. One key serves many capabilities; a new one is tried first.',
        ],
        ['多个上游', '一个能力可按优先级和权重使用多个上游；一个上游密钥供多个能力共用，更换前先行检查。'],
        '/admin/upstreams',
      ),
      item(
        ['Alerts', 'On a capability, an upstream or the platform itself, such as statistics that fall behind.'],
        ['告警', '可监控能力、上游或平台本身，例如统计滞后。'],
        '/admin/alerts',
      ),
      item(
        ['Closed days', 'Each Beijing day is closed once every gateway has delivered its calls; what is missing is told.'],
        ['日结', '所有网关的调用送达后，北京时间的一天即告日结；缺失的调用会注明。'],
        '/admin/spools',
      ),
      item(
        ['Invoices', 'Hold a provider’s CSV against what was counted, per day and model, in the zone in which it bills.'],
        ['对账', '按服务商计费的时区，逐日、逐模型对照其 CSV 账单与已计数据。'],
        '/admin/reconcile',
      ),
      item(
        ['Audit', 'Filter by person, target and kind of change, follow links to what was changed, and save as CSV.'],
        ['审计', '按人员、对象和改动类型筛选，可跳转到被改动的对象，并导出 CSV。'],
        '/admin/audit',
      ),
      item(
        [
          'Ordering by drag',
          'Drag groups and capabilities by their handle, also on a touch screen, or hold Alt and press ↑ ↓ Home End. A move is stored once.',
        ],
        ['拖动排序', '拖动手柄为分组和能力排序，触摸屏亦可；或按住 Alt 再按 ↑ ↓ Home End。每次移动只保存一次。'],
        '/admin/groups',
      ),
      item(
        ['Ceilings', 'How much owners may allow themselves: for all applications, those of one owner, or a single one.'],
        ['上限', '规定所有者可自行设置的限额：适用于所有应用、某个所有者或某个应用。'],
        '/admin/limits',
      ),
    ],
  },
  {
    day: '2026-11-22',
    console: [
      item(
        ['Tokens and cost', 'What answers report of their tokens, and what it costs by the administrators’ prices: an estimate, no bill.'],
        ['Token 与费用', '应答报告的 Token 用量，以及按管理员价格估算的费用；仅为估算，不是账单。'],
        '/',
      ),
      item(
        [
          'Clients as they are',
          'Clients of OpenAI, Anthropic and Google work by their environment alone: the address names the capability (/via/<capability>).',
        ],
        ['客户端无需改动', 'OpenAI、Anthropic 和 Google 的客户端只需设置环境变量：网址中写明能力（/via/<能力>）。'],
        '/capabilities',
      ),
      item(
        ['Edits that meet', 'When somebody else changed the same thing meanwhile, both versions are shown and nothing is lost.'],
        ['同时编辑', '他人同时改动同一内容时，两个版本都会显示，不会丢失。'],
      ),
      item(
        ['Traces', 'Calls join the traces of their callers, and are found by the trace id.'],
        ['链路追踪', '调用并入调用方的链路，可按 Trace ID 查找。'],
      ),
    ],
    office: [
      item(
        [
          'Prices',
          'A price book per capability and model, with its history, suggestions from public prices, and what is used without a price.',
        ],
        ['价格', '按能力和模型维护价格，保留历史，提供公开目录价，并列出尚未定价的用量。'],
        '/admin/prices',
      ),
      item(
        ['Spools', 'How far each gateway has delivered its calls. One that is lost for good is given up here, and what it held is told.'],
        ['暂存', '各网关的调用已送达到何时；确定无法恢复的暂存可在此作废，其中的调用数会注明。'],
        '/admin/spools',
      ),
    ],
  },
  {
    day: '2026-11-21',
    console: [
      item(
        [
          'The console',
          'Applications with their keys and capabilities, exact statistics per Beijing day within two seconds, and the reason of every failed call.',
        ],
        ['控制台', '管理应用及其密钥和能力；按北京时间的精确统计，两秒内可见；每次失败的调用都有原因。'],
        '/',
      ),
      item(
        ['Try it', 'Call a capability from its page, with samples in curl, Python, JavaScript and Go.'],
        ['试用', '在能力页直接调用，并提供 curl、Python、JavaScript 和 Go 示例。'],
        '/capabilities',
      ),
    ],
    office: [
      item(
        ['The back office', 'Groups, capabilities and the audit of every change by an administrator.'],
        ['管理后台', '管理分组和能力，并审计管理员的每次改动。'],
        '/admin/capabilities',
      ),
    ],
  },
];
