package fault

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// chinese holds the Chinese of every sentence a fault may tell, under its English format; {1} and
// {2} stand for what the verbs of the format put in. Packages write English only, and the test beside
// this file reads their source, so that no sentence is without its Chinese.
var chinese = map[string]string{ //nolint:gosec // sentences about passwords are no passwords
	// Any request.
	"some fields are invalid": "部分字段无效",
	"callgate dev does not answer to this host name; use localhost, or set PUBLIC_BASE_URL to the address you use": "callgate dev 不响应此主机名；请使用 localhost，或将 PUBLIC_BASE_URL 设为您使用的地址",
	"no such object": "对象不存在",
	"this host serves the gateway only; the console is at PUBLIC_BASE_URL": "此主机只提供网关，控制台在 PUBLIC_BASE_URL",
	"must be the id of a key":                                "必须是密钥的 ID",
	"must be day, or left out":                               "必须是 day，或省略",
	"must be 32 lower-case hexadecimal digits, not all zero": "必须是 32 位小写十六进制数字，且不能全为零",
	"this spool is in use: %s reported it %d s ago. Stop that gateway first; one that ends in order ships what it holds": "该暂存正在使用：{1} 在 {2} 秒前报告过它。请先停止该网关；正常退出的网关会送出其中的全部记录",
	"must be owner or capability":                   "必须是 owner 或 capability",
	"must be allow or block":                        "必须是 allow 或 block",
	"must be warn or block":                         "必须是 warn 或 block",
	"must be day, week or month":                    "必须是 day、week 或 month",
	"must be ok, near, over or unknown":             "必须是 ok、near、over 或 unknown",
	"must be application, key, owner or capability": "必须是 application、key、owner 或 capability",
	"must be a decimal above 0 and below 1000000000 with at most six decimals, such as 12.5": "必须是大于 0、小于 1000000000、最多六位小数的十进制数，例如 12.5",
	"must be at most %d whole numbers of percent from 1 to %d":                               "最多 {1} 个百分比整数，每个从 1 到 {2}",
	"must be later than now, and within a year":                                              "必须晚于现在，且在一年之内",
	"must be at most one for each of day, week and month":                                    "日、周、月各最多一个预算",
	"must be another one than that of the budget before":                                     "不能与前面的预算周期相同",
	"no such path":                                                   "路径不存在",
	"this path does not take this method":                            "该路径不支持此请求方法",
	"the request is too large":                                       "请求过大",
	"internal error; the request id finds it in the log":             "内部错误，可凭请求 ID 在日志中查找原因",
	"a store is unavailable; try again shortly":                      "存储暂时不可用，请稍后重试",
	"statistics are unavailable; try again shortly":                  "统计数据暂时不可用，请稍后重试",
	"the file is not UTF-8; save it as CSV in UTF-8":                 "文件不是 UTF-8 编码，请另存为 UTF-8 的 CSV",
	"the file is empty; send CSV whose first line names the columns": "文件为空，请发送首行为列名的 CSV",
	"the file has more than %d lines; send one month of daily sums":  "文件超过 {1} 行，请发送一个月的每日汇总",
	"the file is not CSV":                                            "文件不是 CSV",
	"is not CSV: a quote is open, or stands where none may":          "不是 CSV：引号未闭合，或位置不对",
	"the first line must name the columns: date, model, and at least one of input_tokens, output_tokens and cost; cached_tokens, other meters by their names, requests and currency are read too": "首行必须是列名：需要 date、model，以及 input_tokens、output_tokens、cost 中至少一个；也读取 cached_tokens、按名称列出的其他计量项、requests 和 currency",
	"the model must have 1 to %d bytes; export the file by model, of OpenAI's costs by line item":                                                                                                 "模型名必须为 1 至 {1} 字节；请按模型导出文件（OpenAI 的费用按 line item 导出）",
	"the date must be of the form 2026-10-31 or 2026-10-31T15:04:05+08:00, or seconds since 1970":                                                                                                 "日期必须形如 2026-10-31 或 2026-10-31T15:04:05+08:00，或为自 1970 年起的秒数",
	"the line is of parts of two days of %s; compare it with the time zone of the file's days":                                                                                                    "该行跨越 {1} 的两个日期；请选择文件日期所用的时区再比对",
	"the columns %q and %q could both be meant; leave only one of them in the file":                                                                                                               "列 {1} 和 {2} 含义重复，无法判断用哪一列；请在文件中只保留其中一列",
	"the type must be request_count, input_tokens, input_cache_hit_tokens, input_cache_miss_tokens or output_tokens":                                                                              "type 必须是 request_count、input_tokens、input_cache_hit_tokens、input_cache_miss_tokens 或 output_tokens",
	"tokens and requests must be whole numbers from 0 to 100,000,000,000,000":                                                                                                                     "Token 数和请求数必须是 0 到 100,000,000,000,000 之间的整数",
	"the cost must be a decimal number such as 1234.56":                                                                                                                                           "费用必须是十进制数，例如 1234.56",
	"a cost needs its currency, a code such as CNY or USD":                                                                                                                                        "费用需要币种，如 CNY 或 USD",
	"must be the name of a time zone, such as UTC, Asia/Shanghai or America/Los_Angeles":                                                                                                          "必须是时区名，如 UTC、Asia/Shanghai 或 America/Los_Angeles",
	"must be a month of the form 2026-10, from 2000 to 2100":                                                                                                                                      "必须是形如 2026-10 的月份，从 2000 年到 2100 年",
	"must differ from UTC by whole hours: figures are kept by the hour":                                                                                                                           "与 UTC 的时差必须为整小时：统计按小时保存",
	"the call ledger is unavailable":                     "调用台账暂时不可用",
	"too many requests; try again later":                 "请求过于频繁，请稍后再试",
	"this call succeeded, so there is no failure detail": "该次调用成功，没有失败详情",
	"the identifier %q is taken":                         "标识符 {1} 已被占用",
	"no account has the e-mail address %q":               "没有账号使用邮箱地址 {1}",
	"%d days are more than the %d that can be asked for": "所选 {1} 天超出上限，最多可查询 {2} 天",
	"end %s is before start %s":                          "结束日期 {1} 早于开始日期 {2}",
	"%s must be a date of the form YYYY-MM-DD":           "{1} 必须是 YYYY-MM-DD 格式的日期",
	"%s must lie between %s and %s":                      "{1} 必须在 {2} 与 {3} 之间",
	"the body is empty; send a JSON object":              "请求体为空，请发送 JSON 对象",
	"the body is not UTF-8":                              "请求体不是 UTF-8 编码",
	"must be UTF-8 text":                                 "必须是 UTF-8 文本",
	"must be UTF-8 text without NUL":                     "必须是不含 NUL 的 UTF-8 文本",
	"the request has two Authorization lines":            "请求带有两个 Authorization 头",
	"the body must be a JSON object":                     "请求体必须是 JSON 对象",
	"the body must be a JSON object, not a %s":           "请求体必须是 JSON 对象，不能是 {1}",
	"the body is larger than %d bytes":                   "请求体超过 {1} 字节",
	"the body could not be read":                         "无法读取请求体",
	"the body is not valid JSON":                         "请求体不是有效的 JSON",
	"malformed JSON at byte %d":                          "JSON 在第 {1} 字节处格式错误",
	"must not be null; leave it out to keep it unset":    "不能为 null；不设置时请省略该字段",
	"must not be a %s":                                   "类型不能是 {1}",
	"must be an object of limits":                        "必须是由限额组成的对象",
	"must be an integer from %d to %d":                   "必须是 {1} 到 {2} 之间的整数",
	"must be an integer from 1 to %d":                    "必须是 1 到 {1} 之间的整数",
	"%s is not among ADMIN_EMAILS":                       "{1} 不在 ADMIN_EMAILS 中",
	"is required":                                        "必填",
	"must have %d to %d characters":                      "长度必须为 {1} 到 {2} 个字符",
	"must have at most %d characters":                    "最多 {1} 个字符",
	"must not contain control characters":                "不能包含控制字符",
	"must have a visible character":                      "必须至少有一个可见字符",
	"must not contain line separators or characters that turn the direction of writing": "不能包含行分隔符或改变文字方向的字符",

	// The back office's directories.
	"an administrator has disabled this application and only an administrator can enable it; the reason is: %s": "管理员已停用此应用，只有管理员可以重新启用；原因：{1}",
	"must be active, disabled or disabledByAdministrator, or left out":                                          "必须是 active、disabled 或 disabledByAdministrator，或省略",
	"must be newest, name or owner": "必须是 newest、name 或 owner",

	// Alerts.
	"there are %d alerts already: delete one that is not needed":                  "已有 {1} 条告警规则，请先删除不需要的",
	"the test before is still being delivered; try again in a minute":             "上一次测试仍在发送，请一分钟后再试",
	"alerts were tested or sent again too often; try again later":                 "告警测试或重新发送过于频繁，请稍后再试",
	"too many tests and repeated deliveries went to one address; try again later": "发往同一地址的测试或重新发送过多，请稍后再试",
	"two channels of a rule must not go to the same address":                      "同一规则的两个渠道不能发往同一地址",
	"the channel of this delivery was removed":                                    "此次发送的渠道已被移除",
	"this delivery is being attempted just now":                                   "正在发送，请稍候",
	"there is nothing with this id":                                               "没有此 ID 的对象",
	"must be failureRate, noCalls, p95, tokens, cost, limit, budget, keyExpiry, statisticsBehind, spoolStuck, upstreamLeftOut or dayClosed": "必须是 failureRate、noCalls、p95、tokens、cost、limit、budget、keyExpiry、statisticsBehind、spoolStuck、upstreamLeftOut 或 dayClosed",
	"only administrators can watch this":              "只有管理员可以监视此项",
	"this is watched of an application, by its owner": "此项由应用的所有者监视",
	"does not go with this kind":                      "与此类告警不符",
	"must be day or month":                            "必须是 day 或 month",
	"must be a currency code such as CNY or USD":      "必须是货币代码，例如 CNY 或 USD",
	"must be requestsPerMinute, tokensPerMinute, concurrency, callsPerDay or tokensPerDay": "必须是 requestsPerMinute、tokensPerMinute、concurrency、callsPerDay 或 tokensPerDay",
	"must be 5, 10, 15, 30 or 60":                                   "必须是 5、10、15、30 或 60",
	"must be a number above 0, at most %d":                          "必须大于 0，且不超过 {1}",
	"must be above 0 and on the good side of the threshold":         "必须大于 0，且位于阈值正常的一侧",
	"must be a time to come, of the form 2026-08-17T14:05:00+08:00": "必须是将来的时间，例如 2026-08-17T14:05:00+08:00",
	"must be 1 to %d": "必须为 1 到 {1} 个",
	"the kind of a channel must be mail, webhook, feishu, dingtalk, wecom or slack": "渠道类型必须是 mail、webhook、feishu、dingtalk、wecom 或 slack",
	"a new channel needs its URL": "新渠道需要 URL",
	"only bots of Feishu and DingTalk take a secret; one of webhooks is made here":           "只有飞书和钉钉机器人可填写密钥；Webhook 的密钥由本平台生成",
	"the secret of a channel must have at most %d bytes":                                     "渠道密钥最多 {1} 字节",
	"mail can only go to your own address":                                                   "邮件只能发往您自己的邮箱",
	"mail can only go to an administrator's address":                                         "邮件只能发往管理员邮箱",
	"it is longer than %d bytes":                                                             "超过 {1} 字节",
	"its query has a character that does not belong into one":                                "查询部分含有不允许的字符",
	"the id of a channel must be of one that the rule has, of the same kind, and named once": "渠道 ID 必须是该规则已有的同类渠道，且只出现一次",

	// What callers say of calls, and exploring.
	"must be name:value, such as team:search":                                                               "必须是 名称:值 的形式，例如 team:search",
	"must not be given more than %d times, for no call has more tags":                                       "最多给出 {1} 次：一次调用最多有这么多标签",
	"must be 1 to %d characters":                                                                            "必须为 1 到 {1} 个字符",
	"must be application, owner, capability, upstreamModel, upstream, status, reason, endedBy, or left out": "必须是 application、owner、capability、upstreamModel、upstream、status、reason、endedBy，或省略",
	"is for the owners of the calls alone":                                                                  "只有调用的所有者可以使用",
	"must be at most %d days before the end in a question by hour, of durations, or of tags, users, upstreams or times of day, for much is read": "按小时，或涉及耗时、标签、用户、上游、时刻的问题最多比结束日期早 {1} 天：需要读取大量数据",
	"must be 10, 25, 50 or 100":                                      "必须是 10、25、50 或 100",
	"must be at most %d days before the end, for every call is read": "最多比结束日期早 {1} 天：每次调用都会读取",
	"cannot be asked for here; the list of calls can":                "此处不支持；调用列表支持",
	"must be one of %s":                                              "必须是以下之一：{1}",
	"must be application, capability, upstreamModel, key, status, reason, endedBy, user, tag:name, or left out": "必须是 application、capability、upstreamModel、key、status、reason、endedBy、user、tag:名称，或省略",
	"must be hour, day, week or month, or left out":                                                             "必须是 hour、day、week 或 month，或省略",
	"must be previous or month, or left out":                                                                    "必须是 previous 或 month，或省略",
	"must be the id of an application":                                                                          "必须是应用的 ID",
	"must not be given more than %d times":                                                                      "最多给出 {1} 次",

	// Saved views.
	"must be the query of a URL, of at most %d bytes, without its question mark":          "必须是 URL 的查询部分，不含问号，最多 {1} 字节",
	"there are %d saved views already: delete one that is not needed":                     "已保存 {1} 个视图：请先删除不需要的",
	"a saved view of this page has this name already: choose another, or delete that one": "此页面已有同名视图：请换个名称，或删除那一个",

	// The calls explorer.
	"must be a reason of failures, such as timeout, or reason:code, such as timeout:caller_timeout": "必须是失败原因，例如 timeout，或“原因:代码”，例如 timeout:caller_timeout",
	"must be an integer from 100 to 599":         "必须是 100 到 599 之间的整数",
	"must be 0 or an integer from 100 to 599":    "必须是 0，或 100 到 599 之间的整数",
	"must lie within the days from start to end": "必须在 start 到 end 的日期范围之内",
	"must be after from":                         "必须晚于 from",
	"must be failure or left out, for reason, upstreamStatus, text and message select failures": "必须是 failure 或省略：reason、upstreamStatus 和 text 只选择失败的调用",
	"must be active or disabled, or left out":                                                   "必须是 active 或 disabled，或省略",
	"must be newest, name, calls, failures or lastCall":                                         "必须是 newest、name、calls、failures 或 lastCall",
	"must be calls, failures, failureRate, tokens or cost":                                      "必须是 calls、failures、failureRate、tokens 或 cost",
	"must be the id of a user":                                                                  "必须是用户的 id",

	// The price book.
	"must be an ISO 4217 code in capitals, such as CNY or USD":                                  "必须是大写的 ISO 4217 货币代码，例如 CNY 或 USD",
	"must be a decimal such as 2.5, at least 0, below 1000000000, with at most twelve decimals": "必须是不小于 0、小于 1000000000、最多十二位小数的十进制数，例如 2.5",
	"is the ordinary tier: leave it out":                                                        "是普通服务等级：请留空",
	"must be 0, 128000, 200000, 256000, 272000 or 1000000":                                      "必须是 0、128000、200000、256000、272000 或 1000000",
	"names a meter that there is not; the contract lists those that there are":                  "含有不存在的计量项；可用的计量项见接口约定",
	"has a field of its own: input, cached, cacheWrite or output":                               "有单独的字段：input、cached、cacheWrite 或 output",
	"is given in amounts as well; leave one of them out":                                        "在 amounts 中也已给出；请只保留其中一个",
	"no such capability":                            "没有这个能力",
	"the price that was read is not there any more": "读取到的价格已不存在",
	"the rate that was read is not there any more":  "读取到的汇率已不存在",
	"must be another currency":                      "必须是另一种货币",
	"must be above 0":                               "必须大于 0",

	// Limits.
	"must be at most %d, the ceiling that an administrator has set for this application": "不能超过 {1}：这是管理员为该应用设置的上限",
	"must be at most %d, the ceiling that an administrator has set for your account":     "不能超过 {1}：这是管理员为您的账号设置的上限",
	"must be at most %d, the ceiling that an administrator has set for all applications": "不能超过 {1}：这是管理员为所有应用设置的上限",
	"must be all, owner or application":                                                  "必须是 all、owner 或 application",
	"no account has this e-mail address or id":                                           "没有账号使用此邮箱地址或 ID",
	"no application has this id":                                                         "没有应用使用此 ID",
	"the ceiling that was read is not there any more":                                    "读取到的上限已不存在",

	// Preconditions.
	"somebody else has changed this since it was read":            "读取之后已被他人修改",
	"must be the updatedAt that was read, in double quotes, or *": "必须是读取到的 updatedAt（放在双引号中）或 *",

	// Upstream keys.
	"enter the key again: the stored one is sent only to the scheme, host and port it was saved for": "请重新输入 Key：已保存的 Key 只会发往保存时的协议、主机和端口",

	// Sign-in.
	"sign in first: the token is missing":                                                                    "请先登录：缺少令牌",
	"sign in first: the session cookie is missing":                                                           "请先登录：缺少会话 Cookie",
	"sign in first: the header Authorization with Bearer and a user JWT is missing":                          "请先登录：缺少 Authorization 请求头（Bearer 加用户 JWT）",
	"the Authorization header must be Bearer and a user JWT":                                                 "Authorization 请求头必须是 Bearer 加用户 JWT",
	"the token is invalid or has expired; sign in again":                                                     "令牌无效或已过期，请重新登录",
	"the session cookie is missing":                                                                          "缺少会话 Cookie",
	"the session has ended; sign in again":                                                                   "会话已结束，请重新登录",
	"the session has already ended":                                                                          "会话已结束",
	"this is for administrators":                                                                             "仅限管理员访问",
	"sign-in requests of other sites are refused":                                                            "拒绝来自其他站点的登录请求",
	"the code is wrong or has expired":                                                                       "验证码错误或已过期",
	"too many tries; ask for a new code":                                                                     "尝试次数过多，请重新获取验证码",
	"too many attempts from this network address; try again later":                                           "该网络地址的尝试次数过多，请稍后再试",
	"too many codes were asked for; try again later":                                                         "获取验证码过于频繁，请稍后再试",
	"too many codes were asked for this address; try again later, or in a browser that has signed in before": "该邮箱的验证码请求过多，请稍后再试，或使用曾经登录过的浏览器",
	"too many tries of this sign-in; begin again":                                                            "此次登录的尝试次数过多，请重新开始",
	"mail cannot be sent now; try again later":                                                               "暂时无法发送邮件，请稍后再试",
	"must be an e-mail address of at most 254 characters":                                                    "必须是不超过 254 个字符的邮箱地址",
	"the company login cannot be reached; try again shortly":                                                 "暂时无法连接企业登录，请稍后再试",
	"the company login failed; try again":                                                                    "企业登录失败，请重试",
	"this sign-in was not begun here or has expired; begin again":                                            "此次登录不是从这里发起的或已过期，请重新开始",

	// Management tokens.
	"must be read or full":                               "必须是 read 或 full",
	"must be later than now, and at most 366 days ahead": "必须晚于现在，且不超过 366 天后",
	"the account has %d management tokens, which is the most, and none has expired; revoke one that is not needed": "该账号已有 {1} 个管理令牌，达到上限，且没有已过期的。请先吊销不需要的令牌",
	"the management token is unknown, revoked or has expired; make a new one in the console":                       "管理令牌不存在、已吊销或已过期，请在控制台新建一个",
	"no management token may do this; sign in and use a user JWT":                                                  "管理令牌不能执行此操作，请登录并使用用户 JWT",
	"this management token may only read; this needs one of full access":                                           "此管理令牌只能读取，该操作需要具有完全权限的令牌",

	// Applications and bindings.
	"must be active or disabled":        "必须是 active 或 disabled",
	"must be success or failure":        "必须是 success 或 failure",
	"must name at most %d capabilities": "最多指定 {1} 个能力",
	"this capability is disabled":       "该能力已停用",
	"%s has %d applications and may have no more; one of them has to be deleted first, or the limit raised (MAX_APPLICATIONS_PER_ACCOUNT)": "{1} 已有 {2} 个应用，达到上限。请先删除其中一个应用，或提高上限（MAX_APPLICATIONS_PER_ACCOUNT）",
	"the application has %d capabilities already": "该应用已绑定 {1} 个能力",
	"the account has %d applications and may have no more; delete one that is not needed, or ask whoever runs this installation to raise the limit": "该账号已有 {1} 个应用，达到上限。请删除不需要的应用，或联系管理员提高上限",
	"no such capability: %s": "能力不存在：{1}",

	// Keys of applications.
	"must be later than now, and before the year %d":                                                                                                                 "必须晚于现在，且早于 {1} 年",
	"must be addresses or CIDRs such as 192.0.2.7 or 2001:db8::/32; this is neither: %s":                                                                             "必须是 192.0.2.7 或 2001:db8::/32 这样的地址或 CIDR；以下内容不是：{1}",
	"the application has %d keys, which is the most, and none has expired; delete one that is not needed":                                                            "该应用已有 {1} 个密钥，达到上限，且没有已过期的密钥；请删除不需要的密钥",
	"the application has %d keys and none has expired, so the old key cannot stay beside the new one; delete a key that is not needed, or rotate without an overlap": "该应用已有 {1} 个密钥，且没有已过期的密钥，旧密钥无法与新密钥并存；请删除不需要的密钥，或轮换时不保留旧密钥",
	"this is the application's Access Key, which is replaced and never deleted: rotate it, or disable the application":                                               "这是该应用的 Access Key，只能更换，不能删除：请轮换它，或停用应用",
	"disabled: %s": "已停用：{1}",

	// Catalog.
	"must be enabled or disabled":                                                   "必须是 enabled 或 disabled",
	"must be bearer, x-api-key, api-key or x-goog-api-key":                          "必须是 bearer、x-api-key、api-key 或 x-goog-api-key",
	"must have 1 to 64 letters, digits or . _ : - and begin with a letter or digit": "须为 1 到 64 个字母、数字或 . _ : -，并以字母或数字开头",
	"cannot be changed": "不可修改",
	"must be of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS and QUERY": "只能是 GET、HEAD、POST、PUT、PATCH、DELETE、OPTIONS、QUERY",
	"must be at most %d":                                   "最多 {1} 项",
	"no such group":                                        "分组不存在",
	"must name at most %d":                                 "最多指定 {1} 项",
	"must name each only once":                             "每项只能出现一次",
	"names one that does not exist":                        "包含不存在的项",
	"must have priorities from 0 to %d":                    "优先级必须在 0 到 {1} 之间",
	"must have weights from 1 to %d":                       "权重必须在 1 到 {1} 之间",
	"is required for a capability that names no upstreams": "能力未指定上游时必填",
	"must name each by upstreamId, its identifier":         "每项必须以 upstreamId（上游标识符）指定",
	"must each have the status enabled or disabled":        "每项的状态必须是 enabled 或 disabled",
	"must leave one enabled: with all disabled no call could be made; disable the capability instead":                                          "至少保留一个启用的上游：全部停用后无法调用；如需停止请停用该能力",
	"capabilities use this upstream: %s. Take it out of them first":                                                                            "以下能力正在使用该上游：{1}。请先将其移除",
	"there is no earlier key: one that is replaced can be put back for 24 hours":                                                               "没有可恢复的旧密钥：密钥被替换后 24 小时内可以恢复",
	"was not saved: the upstream could not be tried with it (%s); or save it without the check":                                                "未保存：无法用该密钥检测上游（{1}）；也可不经检测直接保存",
	"was not saved: the upstream answered %d when it was tried; correct it, or the address or path of the check; or save it without the check": "未保存：检测时上游返回 {1}；请更正密钥、地址或检测路径，也可不经检测直接保存",
	"is required: there is no stored one":                                                                                                      "必填：尚未保存过密钥",
	"must be visible ASCII characters without spaces":                                                                                          "必须是不含空格的可见 ASCII 字符",
	"must be visible ASCII characters without spaces, ?, # and backslashes":                                                                    "必须是可见 ASCII 字符，不能含空格、?、# 和反斜杠",
	"must begin with /": "必须以 / 开头",
	"has a %% that is not followed by two hexadecimal digits":                                   "% 后面必须是两位十六进制数字",
	"must not contain a dot segment or a backslash":                                             "不能包含 . 或 .. 路径段或反斜杠",
	"the URL is longer than %d bytes":                                                           "URL 超过 {1} 字节",
	"the URL has a space, a control character, a backslash or a non-ASCII character at byte %d": "URL 第 {1} 字节处有空格、控制字符、反斜杠或非 ASCII 字符",
	"this is not a URL":                                                  "不是有效的 URL",
	"the URL must begin with http:// or https://":                        "URL 必须以 http:// 或 https:// 开头",
	"the URL has no host":                                                "URL 缺少主机名",
	"the URL must not contain a user name or password":                   "URL 不能包含用户名或密码",
	"the URL must not contain a query or a fragment":                     "URL 不能包含查询参数或片段",
	"the path must not contain a dot segment or a backslash":             "路径不能包含 . 或 .. 路径段或反斜杠",
	"the port is empty":                                                  "端口为空",
	"the port is not between 1 and 65535":                                "端口必须在 1 到 65535 之间",
	"an address with a zone is not allowed":                              "不允许带区域标识的地址",
	"the host name is longer than 253 characters":                        "主机名超过 253 个字符",
	"the host name is not valid (letters, digits, - and _ between dots)": "主机名无效（各段只能含字母、数字、- 和 _，以点分隔）",
	"write an IPv4 address in dotted decimal":                            "请用点分十进制书写 IPv4 地址",
	"%s: address is not public":                                          "{1}：不是公网地址",
	"inside %s: %s: address is not public":                               "{1} 内含的 {2}：不是公网地址",

	// Statistics.
	"must be a time of the form 2026-08-17T14:05:00+08:00":                                                      "必须是 2026-08-17T14:05:00+08:00 形式的时间",
	"must not be given together with page":                                                                      "不能与 page 同时使用",
	"your account is already asking as many questions of the statistics as it may at a time; try again shortly": "您的账号同时进行的统计查询数已达上限，请稍后再试",
	"your account is already downloading as many files as it may at a time; wait until one has ended":           "您的账号同时下载的文件数已达上限，请等待其中一个结束",
}

// phrase is an entry of chinese that has verbs.
type phrase struct {
	english *regexp.Regexp
	chinese string
}

var phrases = sync.OnceValue(func() []phrase {
	verbs := strings.NewReplacer("%d", `(-?\d+)`, "%s", `(.+?)`, "%q", `("(?:[^"\\]|\\.)*")`, "%%", "%")
	var all []phrase
	for format, translation := range chinese {
		if strings.Contains(format, "%") {
			all = append(all, phrase{regexp.MustCompile(`(?s)^` + verbs.Replace(regexp.QuoteMeta(format)) + `$`), translation})
		}
	}
	return all
})

// Chinese translates a public sentence of a fault, message of a field included. One it does not know
// it returns as it is.
func Chinese(sentence string) string {
	if known, ok := chinese[sentence]; ok {
		return known
	}
	var best []string // of several that fit the one with the least put in
	var translation string
	for _, p := range phrases() {
		parts := p.english.FindStringSubmatch(sentence)
		if parts != nil && (best == nil || size(parts[1:]) < size(best[1:])) {
			best, translation = parts, p.chinese
		}
	}
	if best == nil {
		return sentence
	}
	places := make([]string, 0, 2*len(best))
	for i, part := range best[1:] {
		places = append(places, "{"+strconv.Itoa(i+1)+"}", part)
	}
	return strings.NewReplacer(places...).Replace(translation)
}

func size(parts []string) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}
