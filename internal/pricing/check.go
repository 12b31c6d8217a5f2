package pricing

import (
	"maps"
	"regexp"
	"slices"

	"github.com/shopspring/decimal"
	"golang.org/x/text/currency"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/fault"
	"callgate/internal/meter"
)

// Bounds in characters, as those of a capability.
const (
	maxIdentifier = 64
	maxModel      = 256
	maxTier       = 64
)

// amountForm is a decimal below a thousand million with at most twelve decimals.
var amountForm = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,12})?$`)

// Draft is a price as an administrator enters it. Amounts are decimals, at least 0, with at most twelve decimals.
type Draft struct {
	Amounts       map[string]string // of other meters, by their names
	CacheWrite    *string           // nil: as Input
	CacheWrite1H  *string           // short for that of Amounts
	Cached        *string           // nil: as Input
	CapabilityID  string
	Currency      string // ISO 4217, upper case
	From          string // YYYY-MM-DD, 2000 to 2100; days to come too
	FromBand      *int64 // nil: 0
	Input         string
	Output        string
	Tier          *string // nil: any
	UpstreamModel *string // nil: any model
}

// check gives the price that the draft means. The fault is InvalidDate, else Invalid with every wrong field.
func (d Draft) check() (Price, error) {
	wrong := fault.Fields{}
	p := Price{CapabilityID: d.CapabilityID, Currency: d.Currency}
	if d.From == "" {
		wrong.Add("from", "is required")
	} else {
		var err error
		if p.From, err = beijing.ParseDate("from", d.From); err != nil {
			return Price{}, err
		}
	}
	wrong.Text("capabilityId", d.CapabilityID, 1, maxIdentifier)
	if d.UpstreamModel != nil {
		p.UpstreamModel = *d.UpstreamModel
		wrong.Name("upstreamModel", p.UpstreamModel, 1, maxModel)
	}
	if d.Tier != nil {
		wrong.Name("tier", *d.Tier, 1, maxTier)
		if p.Tier = calls.TierOf(*d.Tier); p.Tier == "" && *d.Tier != "" {
			wrong.Add("tier", "is the ordinary tier: leave it out")
		}
	}
	if d.FromBand != nil {
		if p.FromBand = *d.FromBand; p.FromBand != 0 && !slices.ContainsFunc(calls.Bands, func(b uint32) bool { return int64(b) == p.FromBand }) {
			wrong.Add("fromBand", "must be 0, 128000, 200000, 256000, 272000 or 1000000")
		}
	}
	CheckCurrency(wrong, "currency", d.Currency)
	p.Input = amount(wrong, "input", d.Input)
	p.Cached = optionalAmount(wrong, "cached", d.Cached)
	p.CacheWrite = optionalAmount(wrong, "cacheWrite", d.CacheWrite)
	p.Output = amount(wrong, "output", d.Output)
	p.Amounts = d.amounts(wrong)
	return p, wrong.Err()
}

// amounts are those of meters that have no field of their own.
func (d Draft) amounts(wrong fault.Fields) map[meter.Meter]decimal.Decimal {
	of := map[meter.Meter]decimal.Decimal{}
	for _, name := range slices.Sorted(maps.Keys(d.Amounts)) {
		m, known := meter.Named(name)
		switch {
		case !known, m >= meter.NumPriced:
			wrong.Add("amounts", "names a meter that there is not; the contract lists those that there are")
		case m == meter.Input, m == meter.CachedInput, m == meter.CacheWrite, m == meter.Output:
			wrong.Add("amounts."+name, "has a field of its own: input, cached, cacheWrite or output")
		default:
			of[m] = amount(wrong, "amounts."+name, d.Amounts[name])
		}
	}
	if d.CacheWrite1H != nil {
		if _, twice := of[meter.CacheWrite1h]; twice {
			wrong.Add("cacheWrite1h", "is given in amounts as well; leave one of them out")
		}
		of[meter.CacheWrite1h] = amount(wrong, "cacheWrite1h", *d.CacheWrite1H)
	}
	return of
}

// CheckCurrency notes a field that is no ISO 4217 code in capitals.
func CheckCurrency(wrong fault.Fields, field, code string) {
	unit, err := currency.ParseISO(code)
	switch {
	case code == "":
		wrong.Add(field, "is required")
	case err != nil, unit.String() != code, unit == currency.XXX, unit == currency.XTS:
		wrong.Add(field, "must be an ISO 4217 code in capitals, such as CNY or USD")
	}
}

func amount(wrong fault.Fields, field, text string) decimal.Decimal {
	switch {
	case text == "":
		wrong.Add(field, "is required")
	case !amountForm.MatchString(text):
		wrong.Add(field, "must be a decimal such as 2.5, at least 0, below 1000000000, with at most twelve decimals")
	default:
		return decimal.RequireFromString(text)
	}
	return decimal.Zero
}

func optionalAmount(wrong fault.Fields, field string, text *string) *decimal.Decimal {
	if text == nil {
		return nil
	}
	value := amount(wrong, field, *text)
	return &value
}
