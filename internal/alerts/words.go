package alerts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// phrases are what each kind measures, in Chinese and English.
var phrases = map[Kind][2]string{
	FailureRate:      {"失败率", "failure rate"},
	NoCalls:          {"距上次调用", "time since the last call"},
	P95:              {"P95 耗时", "p95 duration"},
	Tokens:           {"Token 用量", "tokens used"},
	Cost:             {"费用（估算）", "cost (estimate)"},
	LimitUse:         {"限额用量", "limit used"},
	BudgetUse:        {"预算用量", "budget spent"},
	KeyExpiry:        {"密钥到期", "key expires in"},
	StatisticsBehind: {"统计数据落后", "statistics are behind by"},
	SpoolStuck:       {"暂存未上报", "spool not reported for"},
	UpstreamLeftOut:  {"上游被熔断", "upstream left out for"},
	DayClosed:        {"日结", "days closed"},
}

// units are those of thresholds, but for currencies.
var units = map[string][2]string{
	"percent": {"%", "%"}, "minutes": {" 分钟", " min"}, "ms": {" 毫秒", " ms"}, "tokens": {" Token", " tokens"}, "days": {" 天", " days"}, "seconds": {" 秒", " s"},
}

var headings = map[string][2]string{
	"alert.firing": {"告警触发", "Alert"}, "alert.resolved": {"告警恢复", "Resolved"}, "alert.test": {"测试通知", "Test"},
	"day.closed": {"日结", "Day closed"}, "day.reopened": {"日结撤回", "Day reopened"},
}

// told is an event in words.
type message struct {
	heading string // one line
	text    string // lines
}

// wordsOf reads a payload.
func wordsOf(body []byte) (message, error) {
	var of struct{ Type string }
	if err := json.Unmarshal(body, &of); err != nil {
		return message{}, fmt.Errorf("read a payload: %w", err)
	}
	if strings.HasPrefix(of.Type, "day.") {
		return wordsOfDay(body)
	}
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return message{}, fmt.Errorf("read a payload: %w", err)
	}
	d := p.Data
	h := headings[p.Type]
	t := message{heading: fmt.Sprintf("[Callgate] %s / %s: %s", h[0], h[1], d.Rule.Name)}
	sign := map[bool]string{true: "≤", false: "≥"}[d.Rule.Kind == KeyExpiry]
	var lines []string
	for i, sentence := range []string{"%s%s：%s（阈值 %s %s）", "%s%s: %s (threshold %s %s)"} {
		if d.Rule.Kind == DayClosed { // a test
			lines = append(lines, phrases[DayClosed][i])
			continue
		}
		target := d.Target.Name
		if target != "" {
			target += [2]string{"，", ", "}[i]
		}
		measured := "—"
		if d.Measured != nil {
			measured = quantity(*d.Measured, d.Unit, i)
		}
		lines = append(lines, fmt.Sprintf(sentence, target, phrases[d.Rule.Kind][i], measured, sign, quantity(d.Threshold, d.Unit, i)))
	}
	lines = append(lines, d.Figures.words()...)
	if d.Since != nil {
		lines = append(lines, "自 / since "+*d.Since)
	}
	t.text = strings.Join(append(lines, d.URL), "\n")
	return t, nil
}

func quantity(value float64, unit string, language int) string {
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if value != float64(int64(value)) {
		text = strconv.FormatFloat(value, 'f', 2, 64)
	}
	if u, ok := units[unit]; ok {
		return text + u[language]
	}
	return text + " " + unit
}

// words are the figures that say more than the measured value.
func (f Figures) words() (lines []string) {
	if f.Calls != nil && f.Failures != nil {
		lines = append(lines, fmt.Sprintf("调用 / calls %d，失败 / failures %d", *f.Calls, *f.Failures))
	}
	if f.Used != nil && f.Limit != nil {
		lines = append(lines, fmt.Sprintf("已用 / used %d / %d", *f.Used, *f.Limit))
	}
	if f.Cost != nil && f.Amount != nil && f.Currency != nil {
		lines = append(lines, fmt.Sprintf("已花费 / spent %s / %s %s", *f.Cost, *f.Amount, *f.Currency))
	}
	if f.UsedUpOn != nil {
		lines = append(lines, "预计用尽 / used up on "+*f.UsedUpOn)
	}
	if f.LastCallAt != nil {
		lines = append(lines, "上次调用 / last call "+*f.LastCallAt)
	}
	if f.KeyName != nil && f.ExpiresAt != nil {
		lines = append(lines, fmt.Sprintf("密钥 / key %s，到期 / expires %s", *f.KeyName, *f.ExpiresAt))
	}
	if f.DataThrough != nil && f.LastCallAt == nil && f.Calls == nil {
		lines = append(lines, "数据完整至 / complete through "+*f.DataThrough)
	}
	if f.CapabilityName != nil {
		lines = append(lines, "能力 / capability "+*f.CapabilityName)
	}
	if f.UpstreamName != nil {
		lines = append(lines, "上游 / upstream "+*f.UpstreamName)
	}
	if f.Host != nil {
		lines = append(lines, "网关 / gateway "+*f.Host)
	}
	return lines
}

// letterOf is an event as a mail.
func letterOf(body []byte) (subject, text string, err error) {
	t, err := wordsOf(body)
	if err != nil {
		return "", "", err
	}
	return t.heading, t.text + "\n", nil
}
