// Package invoice reads what a provider bills per day and model, and holds it against what was counted.
package invoice

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"callgate/internal/fault"
	"callgate/internal/meter"
)

// Line is what a provider bills of a model on a day; what its file does not tell is nil.
type Line struct {
	Date     string // YYYY-MM-DD
	Model    string
	Calls    *int64
	Meters   map[meter.Meter]int64
	Cost     *decimal.Decimal
	Currency string // of Cost
}

const (
	maxLines  = 20_000
	maxFaults = 20
	maxModel  = 200  // bytes
	maxCount  = 1e14 // of a line: all lines together stay below what an int64 holds
)

type column int

const (
	dateColumn  column = iota
	startColumn        // when what the line sums up began, and
	endColumn          // ended
	utcColumn          // a date or time that is UTC's where it does not say otherwise
	modelColumn
	itemColumn // what is billed, the model first: OpenAI's costs
	callsColumn
	callColumn   // a call that the line is of: OpenRouter
	amountColumn // a cost, or as many as typeColumn says of what: DeepSeek
	typeColumn
	costColumn
	dollarColumn // a cost in USD
	currencyColumn
)

// headings are the columns by their names in small letters and digits alone.
var headings = map[string]column{
	"date": dateColumn, "day": dateColumn, "usagedate": dateColumn, "startdate": dateColumn, "starttimeiso": dateColumn, "日期": dateColumn, "时间": dateColumn,
	"starttime": startColumn, "endtime": endColumn, "endtimeiso": endColumn,
	"utcdate": utcColumn, "usagedateutc": utcColumn, "createdat": utcColumn,
	"model": modelColumn, "modelname": modelColumn, "modelid": modelColumn, "modelversion": modelColumn, "modelpermaslug": modelColumn, "模型": modelColumn, "模型名称": modelColumn,
	"lineitem": itemColumn,
	"calls":    callsColumn, "requests": callsColumn, "nummodelrequests": callsColumn, "nrequests": callsColumn, "调用数": callsColumn, "请求数": callsColumn,
	"generationid": callColumn,
	"amount":       amountColumn, "type": typeColumn,
	"cost": costColumn, "amountvalue": costColumn, "totalcost": costColumn, "费用": costColumn, "金额": costColumn,
	"costusd": dollarColumn, "amountusd": dollarColumn, "costtotal": dollarColumn,
	"currency": currencyColumn, "amountcurrency": currencyColumn, "货币": currencyColumn, "币种": currencyColumn,
}

type usedColumn struct {
	form, headings string
	part           bool
	meters         []meter.Meter
}

// clashes tells whether only one of two columns may stand in a file.
func (c usedColumn) clashes(with usedColumn) bool {
	return c.headings == with.headings || (!c.part || !with.part) && slices.ContainsFunc(c.meters, func(m meter.Meter) bool { return slices.Contains(with.meters, m) })
}

// used are the columns of what was used, by form and heading, and the meters that their numbers count. A part is of a form
// that tells a meter in several columns, which are added up; any other column has all of its meters.
var used = []usedColumn{
	{"any", "input inputtokens prompttokens 输入token 输入tokens", false, []meter.Meter{meter.Input}},
	{"any", "output outputtokens completiontokens 输出token 输出tokens", false, []meter.Meter{meter.Output}},
	{"any", "cached cachedtokens cachedinputtokens cachereadtokens cachereadinputtokens 缓存token 缓存tokens", false, []meter.Meter{meter.CachedInput}},
	{"OpenAI", "ncontexttokenstotal", false, []meter.Meter{meter.Input}},
	{"OpenAI", "ngeneratedtokenstotal", false, []meter.Meter{meter.Output}},
	{"OpenAI", "inputcachedtokens", false, []meter.Meter{meter.CachedInput}},
	{"OpenAI", "inputcachewritetokens", false, []meter.Meter{meter.CacheWrite}},
	{"OpenAI", "inputaudiotokens", true, []meter.Meter{meter.InputAudio}}, // that are not cached
	{"OpenAI", "inputcachedaudiotokens", true, []meter.Meter{meter.InputAudio}},
	{"OpenAI", "inputimagetokens", true, []meter.Meter{meter.InputImage}},
	{"OpenAI", "inputcachedimagetokens", true, []meter.Meter{meter.InputImage}},
	{"OpenAI", "outputaudiotokens", false, []meter.Meter{meter.OutputAudio}},
	{"OpenAI", "outputimagetokens", false, []meter.Meter{meter.OutputImage}},
	{"OpenAI", "numimages", false, []meter.Meter{meter.Images}},
	{"Anthropic", "usageinputtokensnocache", true, []meter.Meter{meter.Input}},
	{"Anthropic", "usageinputtokenscachewrite5m", true, []meter.Meter{meter.Input, meter.CacheWrite, meter.CacheWrite5m}},
	{"Anthropic", "usageinputtokenscachewrite1h", true, []meter.Meter{meter.Input, meter.CacheWrite, meter.CacheWrite1h}},
	{"Anthropic", "usageinputtokenscacheread", true, []meter.Meter{meter.Input, meter.CachedInput}},
	{"Anthropic", "usageoutputtokens", false, []meter.Meter{meter.Output}},
	{"Anthropic", "websearchcount", false, []meter.Meter{meter.WebSearches}},
	{"OpenRouter", "tokensprompt", false, []meter.Meter{meter.Input}},
	{"OpenRouter", "tokenscompletion", false, []meter.Meter{meter.Output}},
	{"OpenRouter", "tokenscached", false, []meter.Meter{meter.CachedInput}},
	{"OpenRouter", "tokensreasoning", false, []meter.Meter{meter.Reasoning}},
}

// usedTypes are the types of DeepSeek's amounts.
var usedTypes = map[string][]meter.Meter{
	"input_tokens":            {meter.Input},
	"input_cache_miss_tokens": {meter.Input},
	"input_cache_hit_tokens":  {meter.Input, meter.CachedInput},
	"output_tokens":           {meter.Output},
}

// usedOf are the places in used by heading. Whoever makes a file can name any meter as the contract does.
var usedOf = func() map[string]int {
	of := map[string]int{}
	for m := range meter.NumPriced {
		used = append(used, usedColumn{"any", strings.ReplaceAll(m.String(), "_", ""), false, []meter.Meter{m}})
	}
	for at, column := range used {
		for _, heading := range strings.Fields(column.headings) {
			if _, known := of[heading]; !known {
				of[heading] = at
			}
		}
	}
	return of
}()

var (
	numberText = regexp.MustCompile(`^-?\d{1,15}(\.\d{1,40})?([eE]-\d{1,2})?$`)
	groupsText = regexp.MustCompile(`^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
	codeText   = regexp.MustCompile(`^[A-Z]{3}$`)
	totalText  = regexp.MustCompile(`(?i)^(grand |sub-?)?totals?:?$|^[合总小共]计[:：]?$`)
)

// Read reads a CSV file, its columns by their headings in any order, and gives the lines of a month, whose days are those of
// its zone. Those of other months, of nothing and of totals are ignored and counted. Everything that is wrong with it is told
// by line, and what can be understood in two ways is refused. Faults: Invalid.
func Read(body []byte, month time.Time) (lines []Line, ignored int, err error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(body) {
		return nil, 0, fault.New(fault.Invalid, "the file is not UTF-8; save it as CSV in UTF-8")
	}
	first, _, _ := bytes.Cut(body, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(body))
	r.FieldsPerRecord, r.TrimLeadingSpace, r.Comma = -1, true, separator(string(first))
	heads, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, 0, fault.New(fault.Invalid, "the file is empty; send CSV whose first line names the columns")
	}
	if err != nil {
		return nil, 0, csvFault(err)
	}
	columns, counted, err := columnsOf(heads)
	if err != nil {
		return nil, 0, err
	}
	wrong := fault.Fields{}
	for n := 0; ; n++ {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return lines, ignored, wrong.Err()
		case err != nil:
			return nil, 0, csvFault(err)
		case n >= maxLines:
			return nil, 0, fault.New(fault.Invalid, "the file has more than %d lines; send one month of daily sums", maxLines)
		case len(wrong) >= maxFaults:
			return nil, 0, wrong.Err()
		}
		at, _ := r.FieldPos(0)
		row := reading{columns: columns, counted: counted, record: record, name: fmt.Sprintf("line %d", at), wrong: wrong, zone: month.Location()}
		if row.blank() {
			continue
		}
		if row.empty() || row.total() {
			ignored++
			continue
		}
		line := row.line()
		if !strings.HasPrefix(line.Date, month.Format("2006-01-")) {
			ignored++
			continue
		}
		lines = append(lines, line)
	}
}

// separator is what stands between the headings.
func separator(first string) rune {
	for _, mark := range "\t;" {
		if strings.Count(first, string(mark)) > strings.Count(first, ",") {
			return mark
		}
	}
	return ','
}

func csvFault(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fault.InvalidFields(map[string]string{fmt.Sprintf("line %d", parse.Line): "is not CSV: a quote is open, or stands where none may"})
	}
	return fault.New(fault.Invalid, "the file is not CSV")
}

// columnsOf gives the columns of a file by what they say, and those of used by where they stand.
func columnsOf(heads []string) (columns map[column]int, counted map[int]int, err error) {
	columns, counted = map[column]int{}, map[int]int{}
	for at, head := range heads {
		plain := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, head)
		if of, known := usedOf[plain]; known {
			for other, before := range counted {
				if used[before].clashes(used[of]) {
					return nil, nil, ambiguous(heads, min(at, other), max(at, other))
				}
			}
			counted[at] = of
			continue
		}
		of, known := headings[plain]
		if !known {
			continue
		}
		switch first, twice := columns[of]; {
		case !twice:
			columns[of] = at
		case of != endColumn: // one end is as good as another
			return nil, nil, ambiguous(heads, first, at)
		}
	}
	has := func(of column) bool { _, found := columns[of]; return found }
	if amount, found := columns[amountColumn]; found && (!has(typeColumn) || has(currencyColumn)) {
		delete(columns, typeColumn)
		delete(columns, amountColumn)
		if !has(costColumn) && !has(dollarColumn) { // beside a cost it is an amount of something else
			columns[costColumn] = amount
		}
	}
	for _, pair := range [][2]column{{costColumn, dollarColumn}, {dateColumn, utcColumn}} {
		if has(pair[0]) && has(pair[1]) {
			return nil, nil, ambiguous(heads, columns[pair[0]], columns[pair[1]])
		}
	}
	told := len(counted) > 0 || has(amountColumn) || has(costColumn) || has(dollarColumn)
	if !has(dateColumn) && !has(startColumn) && !has(utcColumn) || !has(modelColumn) && !has(itemColumn) || !told {
		return nil, nil, fault.New(fault.Invalid, "the first line must name the columns: date, model, and at least one of input_tokens, output_tokens and cost; cached_tokens, other meters by their names, requests and currency are read too")
	}
	return columns, counted, nil
}

func ambiguous(heads []string, a, b int) error {
	return fault.New(fault.Invalid, "the columns %q and %q could both be meant; leave only one of them in the file", clipped(heads[a]), clipped(heads[b]))
}

// clipped is the beginning of a heading, which can be of any length.
func clipped(head string) string {
	if letters := []rune(head); len(letters) > 40 {
		return string(letters[:40])
	}
	return head
}

// reading is a line of the file.
type reading struct {
	columns map[column]int
	counted map[int]int // places in used
	record  []string
	name    string
	wrong   fault.Fields
	zone    *time.Location // of the days
}

func (r reading) text(of column) string {
	if at, found := r.columns[of]; found {
		return r.field(at)
	}
	return ""
}

func (r reading) field(at int) string {
	if at < len(r.record) {
		return strings.TrimSpace(r.record[at])
	}
	return ""
}

func (r reading) blank() bool {
	for _, field := range r.record {
		if strings.TrimSpace(field) != "" {
			return false
		}
	}
	return true
}

// empty tells whether there is nothing but times: nothing was used then.
func (r reading) empty() bool {
	for of := range r.columns {
		if of != dateColumn && of != startColumn && of != endColumn && of != utcColumn && r.text(of) != "" {
			return false
		}
	}
	for at := range r.counted {
		if r.field(at) != "" {
			return false
		}
	}
	return true
}

// total tells whether the line sums up others.
func (r reading) total() bool {
	date, model := r.date(), r.model()
	return date == "" && model == "" || totalText.MatchString(date) || totalText.MatchString(model)
}

func (r reading) date() string {
	return cmp.Or(r.text(startColumn), r.text(dateColumn), r.text(utcColumn))
}

// model is the first part of what is billed where no column is the model's own.
func (r reading) model() string {
	if _, own := r.columns[modelColumn]; own {
		return r.text(modelColumn)
	}
	model, _, _ := strings.Cut(r.text(itemColumn), ",")
	return strings.TrimSpace(model)
}

func (r reading) line() Line {
	l := Line{Model: r.model(), Currency: strings.ToUpper(r.text(currencyColumn)), Date: r.day()}
	if l.Model == "" || len(l.Model) > maxModel || !fault.Storable(l.Model) {
		r.wrong.Add(r.name, "the model must have 1 to %d bytes; export the file by model, of OpenAI's costs by line item", maxModel)
	}
	l.Calls = r.number(r.text(callsColumn))
	if r.text(callColumn) != "" && l.Calls == nil {
		l.Calls = new(int64(1))
	}
	for at, of := range r.counted {
		l.add(r.number(r.field(at)), used[of].meters...)
	}
	if n := r.number(r.text(amountColumn)); n != nil {
		r.typed(&l, n)
	}
	l.Cost = r.amount(costColumn)
	if l.Cost == nil {
		if l.Cost = r.amount(dollarColumn); l.Cost != nil {
			l.Currency = "USD"
		}
	}
	if l.Cost != nil && !codeText.MatchString(l.Currency) {
		r.wrong.Add(r.name, "a cost needs its currency, a code such as CNY or USD")
	}
	return l
}

// typed takes in a number of which the line says what it counts.
func (r reading) typed(l *Line, n *int64) {
	name := strings.ToLower(r.text(typeColumn))
	meters, known := usedTypes[name]
	switch {
	case name == "request_count":
		l.Calls = n
	case !known:
		r.wrong.Add(r.name, "the type must be request_count, input_tokens, input_cache_hit_tokens, input_cache_miss_tokens or output_tokens")
	case name == "input_cache_miss_tokens":
		l.add(new(int64), meter.CachedInput)
	}
	l.add(n, meters...)
}

// add counts for some meters; nil is not told.
func (l *Line) add(n *int64, of ...meter.Meter) {
	if n == nil {
		return
	}
	for _, m := range of {
		if l.Meters == nil {
			l.Meters = map[meter.Meter]int64{}
		}
		l.Meters[m] += *n
	}
}

// number is a whole number, nil where there is none.
func (r reading) number(text string) *int64 {
	text = ungrouped(text)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(text, ".0"), 10, 64)
	if err != nil || n < 0 || n > maxCount {
		r.wrong.Add(r.name, "tokens and requests must be whole numbers from 0 to 100,000,000,000,000")
		return nil
	}
	return &n
}

// amount is a decimal, nil where there is none; a credit is below 0.
func (r reading) amount(of column) *decimal.Decimal {
	text := ungrouped(strings.TrimLeft(r.text(of), "$¥￥€£ "))
	if text == "" {
		return nil
	}
	if !numberText.MatchString(text) {
		r.wrong.Add(r.name, "the cost must be a decimal number such as 1234.56")
		return nil
	}
	amount, err := decimal.NewFromString(text)
	if err != nil {
		r.wrong.Add(r.name, "the cost must be a decimal number such as 1234.56")
		return nil
	}
	return &amount
}

// ungrouped is a number without the commas between its thousands. Any other comma stays, and is refused: 0,50 is half
// a unit where commas are decimal points, and not fifty.
func ungrouped(text string) string {
	if groupsText.MatchString(text) {
		return strings.ReplaceAll(text, ",", "")
	}
	return text
}
