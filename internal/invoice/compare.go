package invoice

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"callgate/internal/meter"
)

// Counted is what was counted of a capability and model that answered on a day.
type Counted struct {
	Date                      string // YYYY-MM-DD
	Capability, UpstreamModel string // UpstreamModel "": no answer named one
	Calls                     int64  // whatever became of them
	Billable                  int64  // calls that a provider may bill: those that it answered, or may have
	Meters                    map[meter.Meter]int64
	Costs                     map[string]decimal.Decimal // by currency
	Why                       map[Reason]int64           // calls, but for Elsewhere, Unnamed and Unbilled
}

// Item holds what is billed of a model on a day against what was counted.
type Item struct {
	Date, Model  string
	Capabilities []string
	Ours         *Sums // nil: nothing was counted
	Theirs       *Sums // nil: nothing is billed
	Why          map[Reason]int64

	file  *contents
	lines int64 // that are billed
}

// Sums are what one side says; what it does not say is not there.
type Sums struct {
	Calls  *int64
	Meters map[meter.Meter]int64
	Costs  map[string]decimal.Decimal
}

// contents are what a file tells of at all, each as 0, and the smallest decimal of its costs.
type contents struct {
	Sums
	exponent int32
}

type key struct{ date, model string }

var versionText = regexp.MustCompile(`-(\d{8}|\d{4}-\d\d-\d\d)$`)

// titled is a name as it would be in a title: Claude Haiku 4.5 is billed for claude-haiku-4-5-20251001.
func titled(name string) string {
	return strings.NewReplacer("-", " ", ".", " ").Replace(versionText.ReplaceAllString(strings.ToLower(name), ""))
}

// Compare brings what was counted and what is billed together by day and model: the model that answered, as providers bill
// it or title it, or the capability where they bill that name. Names are the same in any letters. In order of days and models.
func Compare(counted []Counted, billed []Line) []Item {
	asUpstream, asCapability := map[string]bool{}, map[string]bool{}
	for _, c := range counted {
		if c.UpstreamModel != "" {
			asUpstream[strings.ToLower(c.UpstreamModel)] = true
		}
	}
	named, titles := map[string]bool{}, map[string]string{}
	for _, l := range billed {
		name := strings.ToLower(l.Model)
		named[name] = true
		if strings.Contains(name, " ") {
			titles[titled(name)] = l.Model
		}
		asCapability[name] = asCapability[name] || !asUpstream[name]
	}
	file := contentsOf(billed)
	items := map[key]*Item{}
	at := func(date, model string) *Item {
		of := key{date, strings.ToLower(model)}
		if items[of] == nil {
			items[of] = &Item{Date: date, Model: model, Why: map[Reason]int64{}, file: file}
		}
		return items[of]
	}
	for _, l := range billed {
		at(l.Date, l.Model).bill(l)
	}
	unnamed := map[key]int64{} // by capability
	for _, c := range counted {
		model := c.UpstreamModel
		if title := titles[titled(model)]; title != "" && !named[strings.ToLower(model)] {
			model = title
		}
		if model == "" || !named[strings.ToLower(model)] && asCapability[strings.ToLower(c.Capability)] {
			model = c.Capability
		}
		item := at(c.Date, model)
		item.count(c)
		if c.UpstreamModel == "" || c.UpstreamModel == meter.OtherModel {
			unnamed[key{c.Date, c.Capability}] += c.Billable
			item.Why[Unnamed] += c.Billable
		}
	}
	found := slices.Collect(maps.Values(items))
	ofFile := map[string]bool{} // capabilities
	for _, item := range found {
		for _, capability := range item.Capabilities {
			ofFile[capability] = ofFile[capability] || item.Theirs != nil
		}
	}
	slices.SortFunc(found, func(a, b *Item) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(strings.ToLower(a.Model), strings.ToLower(b.Model)))
	})
	sorted := make([]Item, len(found))
	for i, item := range found {
		slices.Sort(item.Capabilities)
		item.Capabilities = slices.Compact(item.Capabilities)
		for of, calls := range unnamed {
			if of.date == item.Date && (item.Ours == nil || slices.Contains(item.Capabilities, of.model)) {
				item.Why[Elsewhere] += calls
			}
		}
		item.Why[Elsewhere] -= item.Why[Unnamed]
		if !slices.ContainsFunc(item.Capabilities, func(capability string) bool { return ofFile[capability] }) && item.Theirs == nil {
			item.Why[Unbilled] = max(*item.Ours.Calls, 1)
		}
		item.complete()
		sorted[i] = *item
	}
	return sorted
}

// contentsOf has 0 of whatever any line tells.
func contentsOf(billed []Line) *contents {
	of := &contents{Sums: Sums{Meters: map[meter.Meter]int64{}}, exponent: -2} // no provider rounds to more than a hundredth
	for _, l := range billed {
		if l.Calls != nil {
			of.Calls = new(int64)
		}
		for m := range l.Meters {
			of.Meters[m] = 0
		}
		if l.Cost != nil {
			of.Costs, of.exponent = map[string]decimal.Decimal{}, min(of.exponent, l.Cost.Exponent())
		}
	}
	return of
}

func (i *Item) bill(l Line) {
	if i.Theirs == nil {
		i.Theirs = &Sums{Meters: map[meter.Meter]int64{}, Costs: map[string]decimal.Decimal{}}
	}
	t := i.Theirs
	i.lines++
	if l.Calls != nil {
		t.Calls = new(*l.Calls + value(t.Calls))
	}
	for m, n := range l.Meters {
		t.Meters[m] += n
	}
	if l.Cost != nil {
		t.Costs[l.Currency] = t.Costs[l.Currency].Add(*l.Cost)
	}
}

func (i *Item) count(c Counted) {
	if i.Ours == nil {
		i.Ours = &Sums{Calls: new(int64), Meters: map[meter.Meter]int64{}, Costs: map[string]decimal.Decimal{}}
	}
	o := i.Ours
	*o.Calls += c.Calls
	for m, n := range c.Meters {
		o.Meters[m] += n
	}
	for currency, amount := range c.Costs {
		o.Costs[currency] = o.Costs[currency].Add(amount)
	}
	i.Capabilities = append(i.Capabilities, c.Capability)
	for reason, calls := range c.Why {
		i.Why[reason] += calls
	}
}

// complete has our side tell 0 of what the file tells and was not counted: of the parts of cache writes only where answers
// told the parts of all that was written.
func (i *Item) complete() {
	if i.Ours == nil {
		return
	}
	of := i.Ours.Meters
	for _, m := range []meter.Meter{meter.Input, meter.Output, meter.CachedInput} {
		of[m] += 0
	}
	for m := range i.file.Meters {
		of[m] += 0
	}
	parts := []meter.Meter{meter.CacheWrite5m, meter.CacheWrite30m, meter.CacheWrite1h, meter.CacheWrite12h}
	rest := of[meter.CacheWrite]
	for _, m := range parts {
		rest -= of[m]
	}
	if rest != 0 {
		for _, m := range parts {
			delete(of, m)
		}
	}
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Difference is what is billed less what was counted, of what both sides know. A side that has nothing of the item at all has
// 0 of what the file tells of any. Of costs it is that in each currency that both sides know.
func (i Item) Difference() Sums {
	ours, theirs := &i.file.Sums, &i.file.Sums
	if i.Ours != nil {
		ours = i.Ours
	}
	if i.Theirs != nil {
		theirs = i.Theirs
	}
	of := Sums{Meters: map[meter.Meter]int64{}, Costs: map[string]decimal.Decimal{}}
	if ours.Calls != nil && theirs.Calls != nil {
		of.Calls = new(*theirs.Calls - *ours.Calls)
	}
	for m, n := range theirs.Meters {
		if counted, known := ours.Meters[m]; known {
			of.Meters[m] = n - counted
		}
	}
	if i.file.Costs == nil {
		return of
	}
	for currency, amount := range theirs.Costs {
		if counted, known := ours.Costs[currency]; known || i.Ours == nil {
			of.Costs[currency] = amount.Sub(counted)
		}
	}
	if i.Theirs == nil {
		for currency, amount := range ours.Costs {
			of.Costs[currency] = amount.Neg()
		}
	}
	return of
}
