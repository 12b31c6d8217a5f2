package invoice

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"callgate/internal/fault"
	"callgate/internal/meter"
)

// The files of testdata have made-up numbers under the headings that the exports of these pages had in autumn 2026:
//
//	openai-usage, openai-costs         platform.openai.com/usage, Export
//	anthropic-usage, anthropic-cost    platform.claude.com/usage and /cost, Export
//	deepseek-amount, deepseek-cost     platform.deepseek.com/usage, the two files of the archive; before August with utc_date
//	openrouter-activity                openrouter.ai/activity, Export
//
// OpenAI's costs stand there by line item, and its buckets without use have times alone.

// told is a line as a test expects it.
func (l Line) told() string {
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	of := func(m meter.Meter) string {
		if n, told := l.Meters[m]; told {
			return fmt.Sprint(n)
		}
		return "-"
	}
	more := ""
	for m := meter.CacheWrite; m < meter.NumPriced; m++ {
		if l.Meters[m] != 0 {
			more += fmt.Sprintf("%s %d | ", m, l.Meters[m])
		}
	}
	cost := "-"
	if l.Cost != nil {
		cost = l.Cost.String() + " " + l.Currency
	}
	return strings.Join([]string{l.Date, l.Model, number(l.Calls), of(meter.Input), of(meter.Output), of(meter.CachedInput), more + cost}, " | ")
}

func octoberIn(t *testing.T, zone string) time.Time {
	t.Helper()
	in, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 10, 1, 0, 0, 0, 0, in)
}

func said(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		return fmt.Sprintf("not a fault of the file: %v", err)
	}
	text := f.Message
	for line, sentence := range f.Fields {
		text += " " + line + ": " + sentence
	}
	return text
}

func TestTheExportsOfProvidersAreRead(t *testing.T) {
	for _, c := range []struct {
		file, zone string
		ignored    int
		lines      []string
	}{
		{"openai-usage", "UTC", 1, []string{
			"2026-10-02 | gpt-5-mini-2025-08-07 | 12 | 120000 | 3400 | 20000 | -",
			"2026-10-02 | gpt-5-mini-2025-08-07 | 3 | 1000 | 100 | 0 | -"}},
		{"openai-costs", "UTC", 1, []string{
			"2026-10-02 | gpt-5-mini-2025-08-07 | - | - | - | - | 0.025000000000000000000000000001 USD",
			"2026-10-02 | gpt-5-mini-2025-08-07 | - | - | - | - | 0.0068 USD"}},
		{"anthropic-usage", "UTC", 0, []string{
			"2026-10-02 | claude-haiku-4-5-20251001 | - | 101823 | 675 | 40000 | cache_write 61634 | cache_write_5m 61624 | cache_write_1h 10 | -",
			"2026-10-02 | claude-haiku-4-5-20251001 | - | 11 | 25 | 0 | -"}},
		{"anthropic-usage", "Asia/Shanghai", 0, []string{ // by the hour, so that it has the days of any zone
			"2026-10-02 | claude-haiku-4-5-20251001 | - | 101823 | 675 | 40000 | cache_write 61634 | cache_write_5m 61624 | cache_write_1h 10 | -",
			"2026-10-03 | claude-haiku-4-5-20251001 | - | 11 | 25 | 0 | -"}},
		{"anthropic-cost", "UTC", 0, []string{
			"2026-10-02 | Claude Haiku 4.5 | - | - | - | - | 0.05 USD",
			"2026-10-02 | Claude Haiku 4.5 | - | - | - | - | 0.02 USD"}},
		{"deepseek-amount", "Asia/Shanghai", 0, []string{
			"2026-10-02 | deepseek-v4-pro | - | 7064 | - | 0 | -",
			"2026-10-02 | deepseek-v4-pro | - | 1000 | - | 1000 | -",
			"2026-10-02 | deepseek-v4-pro | 2 | - | - | - | -",
			"2026-10-02 | deepseek-v4-pro | - | - | 1890 | - | -"}},
		{"deepseek-amount-before-august", "UTC", 0, []string{
			"2026-10-02 | deepseek-chat | - | - | 1890 | - | -",
			"2026-10-02 | deepseek-chat | 2 | - | - | - | -"}},
		{"deepseek-cost", "Asia/Shanghai", 0, []string{
			"2026-10-02 | deepseek-v4-pro | - | - | - | - | 0.03 CNY",
			"2026-10-02 | deepseek-v4-pro | - | - | - | - | 0.002532 CNY"}},
		{"openrouter-activity", "UTC", 0, []string{
			"2026-10-02 | openai/gpt-5-2025-08-07 | 1 | 100 | 20 | 10 | 0.00123 USD",
			"2026-10-02 | openai/gpt-5-2025-08-07 | 1 | 60 | 10 | 0 | reasoning 5 | 0.00077 USD"}},
	} {
		body, err := os.ReadFile("testdata/" + c.file + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		lines, ignored, err := Read(body, octoberIn(t, c.zone))
		got := make([]string, 0, len(lines))
		for _, l := range lines {
			got = append(got, l.told())
		}
		if err != nil || ignored != c.ignored || strings.Join(got, "\n") != strings.Join(c.lines, "\n") {
			t.Errorf("%s in %s: %d ignored, %v\n%s", c.file, c.zone, ignored, err, strings.Join(got, "\n"))
		}
	}
	// Days of another zone cannot be taken apart.
	for file, zone := range map[string]string{"openai-usage": "Asia/Shanghai", "openai-costs": "America/Los_Angeles", "anthropic-cost": "Asia/Shanghai",
		"deepseek-amount": "UTC", "deepseek-cost": "UTC", "deepseek-amount-before-august": "Asia/Shanghai"} {
		body, err := os.ReadFile("testdata/" + file + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(body, octoberIn(t, zone)); !strings.Contains(said(err), "parts of two days of "+zone) {
			t.Errorf("%s in %s: %s", file, zone, said(err))
		}
	}
}

func TestADateIsTheDayOfTheZone(t *testing.T) {
	for _, c := range []struct{ text, zone, day string }{
		{"2026-10-10T17:00:00+00:00", "Asia/Shanghai", "2026-10-11"},
		{"2026-10-10T17:00:00Z", "UTC", "2026-10-10"},
		{"2026-10-10 17:00:00.123+0000", "Asia/Shanghai", "2026-10-11"},
		{"2026-10-10 17:00:00 +0000 UTC", "Asia/Shanghai", "2026-10-11"},
		{"2026-10-10 17:00 UTC", "Asia/Shanghai", "2026-10-11"},
		{"2026-10-11T03:00:00+08", "America/Los_Angeles", "2026-10-10"},
		{"1791651600", "Asia/Shanghai", "2026-10-11"},
		{"1791651600000", "Asia/Shanghai", "2026-10-11"},
		{"1791651600", "UTC", "2026-10-10"},
		{"20261004", "Asia/Shanghai", "2026-10-04"},
		{"2026/10/4", "America/Los_Angeles", "2026-10-04"},
		{"2026-10-04 23:59", "Asia/Shanghai", "2026-10-04"},
		{"2026-10-04T23:59:59", "Asia/Shanghai", "2026-10-04"},
		{"2026-10-04 in the evening", "UTC", ""}, {"2026-02-30", "UTC", ""}, {"20261304", "UTC", ""}, {"2026-10-04T25:00", "UTC", ""}, {"10/04/2026", "UTC", ""}, {"2026-10-04+08:00", "UTC", ""}, {"179165", "UTC", ""},
	} {
		lines, _, err := Read([]byte("date,model,input_tokens\n"+c.text+",m,5\n"), octoberIn(t, c.zone))
		if c.day == "" && !strings.Contains(said(err), "line 2: the date must be") || c.day != "" && (err != nil || len(lines) != 1 || lines[0].Date != c.day) {
			t.Errorf("%s in %s: %+v %v", c.text, c.zone, lines, err)
		}
	}
	if lines, _, err := Read([]byte("start_time,start_time_iso,model,input_tokens\n1791651600,2026-10-10T17:00:00,m,5\n"), octoberIn(t, "Asia/Shanghai")); err != nil || lines[0].Date != "2026-10-11" {
		t.Errorf("of two times the one that is an instant counts: %+v %v", lines, err)
	}
}

func TestLinesOfTotalsAndOfNothingAreLeftOut(t *testing.T) {
	for _, file := range []string{
		"日期,模型,费用,币种\n2026-10-04,m,0.5,CNY\n合计,,0.5,\n",
		"日期,模型,费用,币种\n2026-10-04,m,0.5,CNY\n总计：,,0.5,CNY\n",
		"date,model,cost,currency\n2026-10-04,m,0.5,USD\nTotal,,\"1,234.50\",USD\n",
		"date,model,cost,currency\n2026-10-04,m,0.5,USD\n2026-10-31,Grand total:,0.5,USD\n",
		"team,date,model,cost,currency\na,2026-10-04,m,0.5,USD\nSubtotal,,,0.5,\n",
		"start_time,model,cost,currency\n1791072000,m,0.5,USD\n1791158400,,,\n",
	} {
		if lines, ignored, err := Read([]byte(file), october); err != nil || len(lines) != 1 || ignored != 1 || lines[0].Cost.String() != "0.5" {
			t.Errorf("%q: %+v, %d, %v", file, lines, ignored, err)
		}
	}
}

func TestWhatCanBeUnderstoodInTwoWaysIsRefused(t *testing.T) {
	for file, want := range map[string]string{
		"日期,模型,费用,金额,币种\n2026-10-04,m,1,2,CNY\n":                                         `the columns "费用" and "金额" could both be meant`,
		"date,model,cost,cost_usd,currency\n2026-10-04,m,1,2,CNY\n":                      `the columns "cost" and "cost_usd"`,
		"date,day,model,input_tokens\n2026-10-04,2026-10-05,m,1\n":                       `the columns "date" and "day"`,
		"date,created_at,model,input_tokens\n2026-10-04,2026-10-05,m,1\n":                `the columns "date" and "created_at"`,
		"date,model,model,input_tokens\n2026-10-04,m,n,1\n":                              `the columns "model" and "model"`,
		"date,model,input_tokens,prompt_tokens\n2026-10-04,m,1,2\n":                      `the columns "input_tokens" and "prompt_tokens"`,
		"date,model,input_tokens,usage_input_tokens_no_cache\n2026-10-04,m,1,2\n":        `could both be meant`,
		"date,model,type,price,amount\n2026-10-04,m,images,0.1,5\n":                      "line 2: the type must be",
		"date,model,type,price,amount,cost\n2026-10-04,m,output_tokens,0.1,5,0.5\n":      "line 2: a cost needs its currency",
		"start_time,amount_value,amount_currency,line_item\n1791072000,0.5,usd,\n":       "of OpenAI's costs by line item",
		"date," + strings.Repeat("x", 900) + ",model,cost,费用\n2026-10-04,,m,1,1\n":       `the columns "cost" and "费用"`,
		"date,model,cost,currency\n2026-10-04,m,1e10,USD\n":                              "line 2: the cost must be a decimal number",
		"date,model,cost,currency\n2026-10-04,m,0." + strings.Repeat("1", 41) + ",USD\n": "line 2: the cost must be a decimal number",
	} {
		if _, _, err := Read([]byte(file), october); !strings.Contains(said(err), want) {
			t.Errorf("%.80q: %s", file, said(err))
		}
	}
	for file, cost := range map[string]string{
		"date,model,amount,cost,currency\n2026-10-04,m,1890,0.5,CNY\n":         "0.5 CNY", // an amount of tokens
		"date,model,cost_usd,amount\n2026-10-04,m,0.5,1890\n":                  "0.5 USD",
		"date,model,amount,currency\n2026-10-04,m,0.5,CNY\n":                   "0.5 CNY",
		"date,type,model,amount,currency\n2026-10-04,usage,m,0.5,CNY\n":        "0.5 CNY",
		"date,type,model,cost,currency\n2026-10-04,usage,m,3.4e-05,USD\n":      "0.000034 USD",
		"date,model,type,amount,cost_usd\n2026-10-04,m,output_tokens,5,0.25\n": "0.25 USD",
	} {
		if lines, _, err := Read([]byte(file), october); err != nil || len(lines) != 1 || !strings.HasSuffix(lines[0].told(), "| "+cost) {
			t.Errorf("%q: %+v %v", file, lines, err)
		}
	}
}

func input(n int64) map[meter.Meter]int64 { return map[meter.Meter]int64{meter.Input: n} }

// TestATitleIsHeldAgainstTheModelsOfItsName, whichever their versions.
func TestATitleIsHeldAgainstTheModelsOfItsName(t *testing.T) {
	items := Compare([]Counted{
		{Date: "2026-10-02", Capability: "claude", UpstreamModel: "claude-haiku-4-5-20251001", Calls: 1, Meters: input(30)},
		{Date: "2026-10-02", Capability: "claude", UpstreamModel: "Claude-Haiku-4-5", Calls: 1, Meters: input(8)},
		{Date: "2026-10-02", Capability: "claude", UpstreamModel: "claude-haiku-4-6", Calls: 1, Meters: input(5)},
	}, []Line{{Date: "2026-10-02", Model: "Claude Haiku 4.5", Meters: input(40)}})
	if len(items) != 2 || items[0].Model != "Claude Haiku 4.5" || items[0].Difference().Meters[meter.Input] != 2 || items[1].Model != "claude-haiku-4-6" {
		t.Errorf("%+v", items)
	}
}
