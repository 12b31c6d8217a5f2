package invoice

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Counted is what was counted of a capability and model that answered on a day.
type Counted struct {
	Date                      string // YYYY-MM-DD
	Capability, UpstreamModel string // UpstreamModel "": no answer named one
	Calls                     int64  // whatever became of them
	Partial, Absent, Unpriced int64  // calls among them
	Input, Output, Cached     int64
	Costs                     map[string]decimal.Decimal // by currency
}

// Item holds what is billed of a model on a day against what was counted.
type Item struct {
	Date, Model  string
	Capabilities []string
	Ours         *Sums // nil: nothing was counted
	Theirs       *Sums // nil: nothing is billed
	Partial      int64 // calls that were interrupted: less was counted than may be billed
	Absent       int64 // calls whose answers report no usage, or none that can be read
	Unpriced     int64 // calls with tokens for which no price held

	none *Sums // 0 of what the file tells of any line
}

// Sums are what one side says; what it does not say is nil.
type Sums struct {
	Calls, Input, Output, Cached *int64
	Costs                        map[string]decimal.Decimal
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
	none := toldOf(billed)
	items := map[key]*Item{}
	at := func(date, model string) *Item {
		of := key{date, strings.ToLower(model)}
		if items[of] == nil {
			items[of] = &Item{Date: date, Model: model, none: none}
		}
		return items[of]
	}
	for _, l := range billed {
		at(l.Date, l.Model).bill(l)
	}
	for _, c := range counted {
		model := c.UpstreamModel
		if title := titles[titled(model)]; title != "" && !named[strings.ToLower(model)] {
			model = title
		}
		if model == "" || !named[strings.ToLower(model)] && asCapability[strings.ToLower(c.Capability)] {
			model = c.Capability
		}
		at(c.Date, model).count(c)
	}
	found := slices.Collect(maps.Values(items))
	slices.SortFunc(found, func(a, b *Item) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(strings.ToLower(a.Model), strings.ToLower(b.Model)))
	})
	sorted := make([]Item, len(found))
	for i, item := range found {
		slices.Sort(item.Capabilities)
		item.Capabilities = slices.Compact(item.Capabilities)
		sorted[i] = *item
	}
	return sorted
}

// toldOf has 0 for each number that any line tells.
func toldOf(billed []Line) *Sums {
	told := &Sums{}
	for _, l := range billed {
		for _, pair := range [][2]**int64{{&told.Calls, &l.Calls}, {&told.Input, &l.Input}, {&told.Output, &l.Output}, {&told.Cached, &l.Cached}} {
			if *pair[1] != nil {
				*pair[0] = new(int64)
			}
		}
	}
	return told
}

func (i *Item) bill(l Line) {
	if i.Theirs == nil {
		i.Theirs = &Sums{Costs: map[string]decimal.Decimal{}}
	}
	t := i.Theirs
	for _, pair := range [][2]**int64{{&t.Calls, &l.Calls}, {&t.Input, &l.Input}, {&t.Output, &l.Output}, {&t.Cached, &l.Cached}} {
		add(pair[0], *pair[1])
	}
	if l.Cost != nil {
		t.Costs[l.Currency] = t.Costs[l.Currency].Add(*l.Cost)
	}
}

func (i *Item) count(c Counted) {
	if i.Ours == nil {
		i.Ours = &Sums{Costs: map[string]decimal.Decimal{}}
	}
	o := i.Ours
	add(&o.Calls, &c.Calls)
	add(&o.Input, &c.Input)
	add(&o.Output, &c.Output)
	add(&o.Cached, &c.Cached)
	for currency, amount := range c.Costs {
		o.Costs[currency] = o.Costs[currency].Add(amount)
	}
	i.Capabilities = append(i.Capabilities, c.Capability)
	i.Partial, i.Absent, i.Unpriced = i.Partial+c.Partial, i.Absent+c.Absent, i.Unpriced+c.Unpriced
}

func add(to **int64, n *int64) {
	if n == nil {
		return
	}
	sum := *n
	if *to != nil {
		sum += **to
	}
	*to = &sum
}

// Difference is what is billed less what was counted; nil where a side is not known. A side that has nothing of the item at
// all has 0, if the file tells that number of any.
func (i Item) Difference(of func(*Sums) *int64) *int64 {
	ours, theirs := new(int64), of(i.none)
	if i.Ours != nil {
		ours = of(i.Ours)
	}
	if i.Theirs != nil {
		theirs = of(i.Theirs)
	}
	if ours == nil || theirs == nil {
		return nil
	}
	n := *theirs - *ours
	return &n
}

// Costs are what is billed less what was estimated, in each currency that both sides know, or one where the other has
// nothing of the item.
func (i Item) Costs() map[string]decimal.Decimal {
	found := map[string]decimal.Decimal{}
	if i.Theirs != nil {
		for currency, amount := range i.Theirs.Costs {
			if i.Ours == nil {
				found[currency] = amount
			} else if ours, known := i.Ours.Costs[currency]; known {
				found[currency] = amount.Sub(ours)
			}
		}
	} else if i.Ours != nil {
		for currency, amount := range i.Ours.Costs {
			found[currency] = amount.Neg()
		}
	}
	return found
}
