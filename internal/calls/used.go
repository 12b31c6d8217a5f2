package calls

import (
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Line is what a call used of one model at one tier of service. A call has lines only where its Usage does not say all.
type Line struct {
	Model  string
	Tier   string  // empty: the ordinary one
	Band   uint32  // the largest of Bands that the line's input is above; 0: none
	Meters []Meter // none of them 0
}

// Meter is a number under its name, such as "cached_input". Those of parts are in those of their whole.
type Meter struct {
	Name   string
	Amount uint64
}

// The meters that Usage has as well.
const (
	MeterInput       = "input"
	MeterOutput      = "output"
	MeterCachedInput = "cached_input"
	MeterCacheWrite  = "cache_write"
	MeterReasoning   = "reasoning"
)

// The meters of what the provider says that it charges for a call, where it says so in dollars: each of the call's lines has
// the one, and the first line the other, in ReportedCostUnit.
const (
	MeterCostReports  = "cost_reports"
	MeterReportedCost = "reported_cost"
	ReportedCostUnit  = -10 // as a power of ten of a dollar; finer parts are rounded

	ReportedCurrency = "USD"
)

// MeterNames are all meters, those of AllUsageFields first and in their order. A spool knows them by their place: append only.
var MeterNames = []string{
	MeterInput, MeterOutput, MeterCachedInput, MeterCacheWrite, MeterReasoning,
	"cache_write_5m", "cache_write_30m", "cache_write_1h", "cache_write_12h",
	"input_audio", "input_image", "input_video", "output_audio", "output_image",
	"search_units", "web_searches", "tool_calls", "images", "pages", "characters", "milliseconds",
	MeterCostReports, MeterReportedCost,
}

// Bands are numbers of input tokens above which providers ask other prices, ascending.
var Bands = []uint32{128_000, 200_000, 256_000, 272_000, 1_000_000}

const (
	maxLines    = 8
	maxLineName = 100     // bytes
	otherLines  = "other" // model of what more lines there are used
)

// ordinaryTiers are names of the tier that is asked for by asking for none.
var ordinaryTiers = []string{"default", "standard", "auto", "on_demand", "on-demand", "standard_only", "unspecified", "service_tier_unspecified"}

// SetLines keeps what a call used, with what is said in Charged of its cost: the first line is of the model that answered.
// Usage gets the sums, and r lines where these do not say all. A meter of 0 is known, and in no line.
func (r *Record) SetLines(lines []Line) {
	u := &r.Usage
	if r.Lines = KeptLines(lines, r.Charged); len(lines) > 0 {
		u.Model = cutBytes(lines[0].Model)
	}
	for i := range lines {
		for _, m := range lines[i].Meters {
			if field := usageFieldOf(m.Name); field != 0 {
				n, _ := u.Number(field)
				u.Set(field, uint32(min(uint64(n)+m.Amount, math.MaxUint32)))
			}
		}
	}
}

// KeptLines are the lines of a call as its record has them; none where the sums of their tokens say all, and its provider
// nothing of the cost.
func KeptLines(lines []Line, charged Charge) (kept []Line) {
	for i := range lines {
		if line := lines[i].normal(); len(line.Meters) > 0 {
			kept = addLine(kept, line)
		}
	}
	cost, said := charged.units()
	if len(kept) == 1 && !said && kept[0].ordinary(cutBytes(lines[0].Model)) {
		return nil
	}
	for i := range kept {
		if said {
			kept[i].Meters = append(kept[i].Meters, Meter{MeterCostReports, 1})
		}
		if cost > 0 && i == 0 {
			kept[i].Meters = append(kept[i].Meters, Meter{MeterReportedCost, cost})
		}
	}
	return kept
}

// normal is a line with its tier and band as they are kept, without meters of 0.
func (l Line) normal() Line {
	l.Model = cutBytes(l.Model)
	l.Tier = TierOf(l.Tier)
	l.Meters = slices.DeleteFunc(slices.Clone(l.Meters), func(m Meter) bool { return m.Amount == 0 })
	l.Band = 0
	for _, m := range l.Meters {
		if m.Name == MeterInput {
			l.Band = BandOf(m.Amount)
		}
	}
	return l
}

// TierOf is a tier of service as calls and prices have it: in lower case, at most 100 bytes, and empty for the ordinary one.
func TierOf(name string) string {
	if name = cutBytes(strings.ToLower(name)); slices.Contains(ordinaryTiers, name) {
		return ""
	}
	return name
}

// BandOf is the largest of Bands that input is above, or 0.
func BandOf(input uint64) (band uint32) {
	for _, b := range Bands {
		if input > uint64(b) {
			band = b
		}
	}
	return band
}

// addLine adds a line, or its numbers to those of one of the same kind.
func addLine(lines []Line, line Line) []Line {
	same := func(of Line) bool { return of.Model == line.Model && of.Tier == line.Tier && of.Band == line.Band }
	at := slices.IndexFunc(lines, same)
	if at < 0 && len(lines) >= maxLines-1 && line.Model != otherLines {
		line.Model, line.Tier, line.Band = otherLines, "", 0
		at = slices.IndexFunc(lines, same)
	}
	if at < 0 {
		return append(lines, line)
	}
	for _, m := range line.Meters {
		i := slices.IndexFunc(lines[at].Meters, func(of Meter) bool { return of.Name == m.Name })
		if i < 0 {
			lines[at].Meters = append(lines[at].Meters, m)
		} else {
			lines[at].Meters[i].Amount += m.Amount
		}
	}
	return lines
}

// ordinary tells whether Usage says all of a line.
func (l Line) ordinary(model string) bool {
	return l.Model == model && l.Tier == "" && l.Band == 0 && !slices.ContainsFunc(l.Meters, func(m Meter) bool { return usageFieldOf(m.Name) == 0 })
}

// usageFieldOf is the number of a Usage that a meter is, or 0.
func usageFieldOf(meter string) UsageFields {
	for i, field := range AllUsageFields {
		if MeterNames[i] == meter {
			return field
		}
	}
	return 0
}

// Charge is what a provider says that it charges for a call; the zero one: nothing.
type Charge struct {
	Amount   string // decimal
	Currency string
}

// maxReportedCost is the most that sums of many calls have room for.
const maxReportedCost = 10_000 // dollars

// units are the charge in ReportedCostUnit; false: there is none, or none that can be counted.
func (c Charge) units() (n uint64, said bool) {
	if c.Currency != ReportedCurrency {
		return 0, false
	}
	amount, err := decimal.NewFromString(c.Amount)
	if err != nil || amount.IsNegative() || amount.GreaterThan(decimal.NewFromInt(maxReportedCost)) {
		return 0, false
	}
	return amount.Shift(-ReportedCostUnit).Round(0).BigInt().Uint64(), true
}

// makeLinesStorable bounds what an answer may say at will.
func (r *Record) makeLinesStorable() {
	r.Lines = r.Lines[:min(len(r.Lines), maxLines)]
	for i := range r.Lines {
		l := &r.Lines[i]
		l.Model, l.Tier = cutBytes(l.Model), cutBytes(l.Tier)
		l.Meters = l.Meters[:min(len(l.Meters), len(MeterNames))]
	}
	r.AnswerID = cutBytes(r.AnswerID)
	if len(r.Charged.Amount) > maxLineName || len(r.Charged.Currency) > maxLineName {
		r.Charged = Charge{}
	}
}

// cutBytes is the beginning of a name, valid, of as many bytes as one may have.
func cutBytes(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxLineName)], "") }
