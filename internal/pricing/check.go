package pricing

import (
	"regexp"

	"github.com/shopspring/decimal"
	"golang.org/x/text/currency"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// Bounds in characters, as those of a capability.
const (
	maxIdentifier = 64
	maxModel      = 256
)

// rateForm is a decimal below a thousand million with at most four decimals, the column's numeric(13, 4).
var rateForm = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,4})?$`)

// Draft is a price as an administrator enters it.
type Draft struct {
	CacheWrite    *string // nil: as Input
	Cached        *string // nil: as Input
	CapabilityID  string
	Currency      string // ISO 4217, upper case
	From          string // YYYY-MM-DD, 2000 to 2100; days to come too
	Input         string // decimals per million tokens, at least 0, at most four decimals
	Output        string
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
	checkCurrency(wrong, d.Currency)
	p.Input = rate(wrong, "input", d.Input)
	p.Cached = optionalRate(wrong, "cached", d.Cached)
	p.CacheWrite = optionalRate(wrong, "cacheWrite", d.CacheWrite)
	p.Output = rate(wrong, "output", d.Output)
	return p, wrong.Err()
}

func checkCurrency(wrong fault.Fields, code string) {
	unit, err := currency.ParseISO(code)
	switch {
	case code == "":
		wrong.Add("currency", "is required")
	case err != nil, unit.String() != code, unit == currency.XXX, unit == currency.XTS:
		wrong.Add("currency", "must be an ISO 4217 code in capitals, such as CNY or USD")
	}
}

func rate(wrong fault.Fields, field, text string) decimal.Decimal {
	switch {
	case text == "":
		wrong.Add(field, "is required")
	case !rateForm.MatchString(text):
		wrong.Add(field, "must be a decimal such as 2.5, at least 0, below 1000000000, with at most four decimals")
	default:
		return decimal.RequireFromString(text)
	}
	return decimal.Zero
}

func optionalRate(wrong fault.Fields, field string, text *string) *decimal.Decimal {
	if text == nil {
		return nil
	}
	value := rate(wrong, field, *text)
	return &value
}
