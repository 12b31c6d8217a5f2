package invoice

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"callgate/internal/fault"
	"callgate/internal/meter"
)

var october = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

func TestFilesOfProvidersAreReadByTheirHeadings(t *testing.T) {
	for name, file := range map[string]string{
		"plain":         "date,model,input_tokens,output_tokens,cached_tokens,cost,currency\n2026-10-02,gpt-x,1000,20,7,0.5,usd\n",
		"another order": "\xef\xbb\xbfCurrency;Cost;Model;Day;Cached Input Tokens;Completion Tokens;Prompt Tokens\r\nUSD;$0.50;gpt-x;2026/10/2;7;20;\"1,000\"\r\n",
		"with a time":   "start_time_iso\tmodel\tinput_tokens\toutput_tokens\tinput_cached_tokens\tcost_usd\n2026-10-02T00:00:00+00:00\tgpt-x\t1000\t20\t7\t0.5\n\n",
		"in Chinese":    "日期,模型,输入 Token,输出 Token,缓存 Token,费用,币种\n2026-10-02,gpt-x,1000,20,7,0.5,USD\n",
	} {
		lines, ignored, err := Read([]byte(file), october)
		if err != nil || ignored != 0 || len(lines) != 1 {
			t.Errorf("%s: %+v, %d, %v", name, lines, ignored, err)
			continue
		}
		if l := lines[0]; l.Date != "2026-10-02" || l.Model != "gpt-x" || !maps.Equal(l.Meters, map[meter.Meter]int64{meter.Input: 1000, meter.Output: 20, meter.CachedInput: 7}) || !l.Cost.Equal(decimal.RequireFromString("0.5")) || l.Currency != "USD" || l.Calls != nil {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if _, ignored, err := Read([]byte("date,model,cost,currency\n2026-09-30,m,1,USD\n2026-11-01,m,1,USD\n"), october); err != nil || ignored != 2 {
		t.Errorf("other months: %d, %v", ignored, err)
	}
}

func TestWhatIsWrongWithAFileIsToldByLine(t *testing.T) {
	for file, want := range map[string]string{
		"":                                 "the file is empty",
		"date,model\n2026-10-01,m\n":       "the first line must name the columns",
		"day,input_tokens\n2026-10-01,5\n": "the first line must name the columns",
		"date,model,cost\n\xff\xfe,m,1\n":  "not UTF-8",
		"date,model,input_tokens\n2026-10-01,m,5\n\n2026-13-01,m,5\n":                       "line 4: the date must be",
		"date,model,input_tokens\n2026-10-01,,5\n":                                          "line 2: the model must have",
		"date,model,input_tokens\n2026-10-01," + strings.Repeat("m", 201) + ",5\n":          "line 2: the model must have",
		"date,model,input_tokens\n2026-10-01,m,5.5\n":                                       "line 2: tokens and requests must be whole numbers",
		"date,model,input_tokens\n2026-10-01,m,-5\n":                                        "line 2: tokens and requests must be whole numbers",
		"date,model,cost,currency\n2026-10-01,m,1e999999999,USD\n":                          "line 2: the cost must be a decimal number",
		"date;model;cost;currency\n2026-10-01;m;0,50;EUR\n":                                 "line 2: the cost must be a decimal number",
		"date;model;cost;currency\n2026-10-01;m;0,500;EUR\n":                                "line 2: the cost must be a decimal number",
		"date;model;input_tokens\n2026-10-01;m;1,5\n":                                       "line 2: tokens and requests must be whole numbers",
		"date,model,input_tokens\n2026-10-01,m,100000000000001\n":                           "line 2: tokens and requests must be whole numbers",
		"date,model,cost,currency\n2026-10-01,m," + strings.Repeat("9", 900_000) + ",USD\n": "line 2: the cost must be a decimal number",
		"date,model,cost\n2026-10-01,m,1\n":                                                 "line 2: a cost needs its currency",
		"date,model,cost,currency\n2026-10-01,m,1,dollars\n":                                "line 2: a cost needs its currency",
		"date,model,cost,currency\n2026-10-01,\"m,1,USD\n":                                  "is not CSV",
	} {
		_, _, err := Read([]byte(file), october)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid {
			t.Errorf("%q: %v", file, err)
			continue
		}
		said := f.Message
		for line, sentence := range f.Fields {
			said += " " + line + ": " + sentence
		}
		if !strings.Contains(said, want) {
			t.Errorf("%q: %s, want %s", file, said, want)
		}
	}
	many := "date,model,input_tokens\n" + strings.Repeat("x,m,5\n", 500)
	var f *fault.Error
	if _, _, err := Read([]byte(many), october); !errors.As(err, &f) || len(f.Fields) != maxFaults {
		t.Errorf("%d lines are told", len(f.Fields))
	}
	if _, _, err := Read([]byte("date,model,input_tokens\n"+strings.Repeat("2026-10-01,m,5\n", maxLines+1)), october); err == nil {
		t.Error("any number of lines is taken")
	}
}

// TestTheMostThatAFileCanSayDoesNotOverflow: as many lines of one model as are taken, each of as many tokens as are.
func TestTheMostThatAFileCanSayDoesNotOverflow(t *testing.T) {
	lines, _, err := Read([]byte("date,model,input_tokens,cost,currency\n"+strings.Repeat("2026-10-01,m,100000000000000,-999999999999999.99,USD\n", maxLines)), october)
	if err != nil || len(lines) != maxLines {
		t.Fatal(len(lines), err)
	}
	items := Compare(nil, lines)
	if len(items) != 1 || items[0].Theirs.Meters[meter.Input] != 100_000_000_000_000*maxLines || items[0].Difference().Meters[meter.Input] <= 0 ||
		items[0].Difference().Costs["USD"].String() != "-19999999999999999800" {
		t.Errorf("%+v", items)
	}
}

func TestABillIsHeldAgainstTheModelThatAnsweredOrTheCapability(t *testing.T) {
	usd := func(text string) map[string]decimal.Decimal {
		return map[string]decimal.Decimal{"USD": decimal.RequireFromString(text)}
	}
	counted := []Counted{
		{Date: "2026-10-01", Capability: "chat", UpstreamModel: "GPT-X", Calls: 10, Costs: usd("1"),
			Why: map[Reason]int64{Partial: 1, Absent: 2, Unpriced: 3}, Meters: map[meter.Meter]int64{meter.Input: 100, meter.Output: 10, meter.CachedInput: 5}},
		{Date: "2026-10-01", Capability: "chat-2", UpstreamModel: "gpt-x", Calls: 5, Meters: input(50), Costs: usd("0.5")},
		{Date: "2026-10-01", Capability: "claude", UpstreamModel: "claude-2026", Calls: 4, Meters: input(40)},
		{Date: "2026-10-02", Capability: "chat", Calls: 2},
		{Date: "2026-10-02", Capability: "ours-alone", UpstreamModel: "quiet", Calls: 3, Meters: input(30), Costs: usd("0.1")},
	}
	cost := decimal.RequireFromString("1.75")
	items := Compare(counted, []Line{
		{Date: "2026-10-01", Model: "gpt-x", Meters: map[meter.Meter]int64{meter.Input: 100, meter.Output: 12}, Cost: &cost, Currency: "USD"},
		{Date: "2026-10-01", Model: "gpt-x", Meters: input(60)},
		{Date: "2026-10-01", Model: "Claude", Meters: input(41)},
		{Date: "2026-10-03", Model: "ghost", Meters: input(9)},
	})
	if len(items) != 5 {
		t.Fatalf("%+v", items)
	}
	x := items[1]
	d := x.Difference()
	if x.Model != "gpt-x" || strings.Join(x.Capabilities, " ") != "chat chat-2" || !maps.Equal(d.Meters, map[meter.Meter]int64{meter.Input: 10, meter.Output: 2}) ||
		d.Costs["USD"].String() != "0.25" || x.Why[Partial] != 1 || x.Why[Absent] != 2 || x.Why[Unpriced] != 3 || *x.Ours.Calls != 15 {
		t.Errorf("%+v", x)
	}
	if c := items[0]; c.Model != "Claude" || c.Difference().Meters[meter.Input] != 1 || len(c.Difference().Costs) != 0 {
		t.Errorf("by capability: %+v", c)
	}
	if c := items[2]; c.Model != "chat" || c.Theirs != nil || *c.Ours.Calls != 2 {
		t.Errorf("calls without an answer: %+v", c)
	}
	if q := items[3]; q.Model != "quiet" || !maps.Equal(q.Difference().Meters, map[meter.Meter]int64{meter.Input: -30, meter.Output: 0}) || q.Difference().Costs["USD"].String() != "-0.1" {
		t.Errorf("ours alone: %+v", q)
	}
	if g := items[4]; g.Model != "ghost" || g.Ours != nil || g.Difference().Meters[meter.Input] != 9 {
		t.Errorf("theirs alone: %+v", g)
	}
}
