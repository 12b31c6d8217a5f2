package alerts

import (
	"encoding/json"
	"fmt"
	"strings"

	"callgate/internal/days"
)

// wordsOfDay reads the payload of day.closed or day.reopened.
func wordsOfDay(body []byte) (message, error) {
	var p payloadOfDay
	if err := json.Unmarshal(body, &p); err != nil {
		return message{}, fmt.Errorf("read a payload: %w", err)
	}
	d, h := p.Data, headings[p.Type]
	t := message{heading: fmt.Sprintf("[Callgate] %s / %s: %s", h[0], h[1], d.Day)}
	if d.Revision > 1 {
		t.heading += fmt.Sprintf(" (%d)", d.Revision)
	}
	var lines []string
	if p.Type == "day.reopened" {
		lines = append(lines, "有迟到的记录，或缺失的调用数有变；该日将重新日结，以下为撤回的数字", "Calls came late, or others are missing: the day is closed again; these are the figures that no longer hold")
	}
	lines = append(lines, wordsOfFigures(d.Figures)...)
	if d.Missing.Calls > 0 || d.Missing.Unknown {
		missing := fmt.Sprintf("已知缺失 / known to be missing %d", d.Missing.Calls)
		if d.Missing.Unknown {
			missing += "，另有数量不明 / and an unknown number"
		}
		lines = append(lines, missing)
	}
	if c := d.Changes; c != nil {
		lines = append(lines, fmt.Sprintf("与上次日结相比 / since the closing before: 调用 / calls %+d，失败 / failures %+d", c.Calls, c.Calls-c.Successes))
	}
	if d.CallsNow != nil {
		lines = append(lines, fmt.Sprintf("现有调用 / calls now %d", *d.CallsNow))
	}
	t.text = strings.Join(append(lines, d.URL), "\n")
	return t, nil
}

func wordsOfFigures(f days.Figures) []string {
	lines := []string{fmt.Sprintf("调用 / calls %d，失败 / failures %d", f.Calls, f.Calls-f.Successes)}
	if f.Tokens.Input != nil || f.Tokens.Output != nil {
		lines = append(lines, fmt.Sprintf("Token 输入 / input %s，输出 / output %s", orDash(f.Tokens.Input), orDash(f.Tokens.Output)))
	}
	for _, c := range f.Costs {
		lines = append(lines, fmt.Sprintf("费用（估算）/ cost (estimate) %s %s", c.Amount, c.Currency))
	}
	if f.Unpriced > 0 {
		lines = append(lines, fmt.Sprintf("未定价调用 / unpriced calls %d", f.Unpriced))
	}
	return lines
}

func orDash(n *int64) string {
	if n == nil {
		return "—"
	}
	return fmt.Sprint(*n)
}
