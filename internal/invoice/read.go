// Package invoice reads what a provider bills per day and model, and holds it against what was counted.
package invoice

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"callgate/internal/fault"
)

// Line is what a provider bills of a model on a day; what its file does not tell is nil.
type Line struct {
	Date                         string // YYYY-MM-DD
	Model                        string
	Calls, Input, Output, Cached *int64
	Cost                         *decimal.Decimal
	Currency                     string // of Cost
}

const (
	maxLines  = 20_000
	maxFaults = 20
	maxModel  = 200  // bytes
	maxCount  = 1e14 // of a line: all lines together stay below what an int64 holds
)

type column int

const (
	dateColumn column = iota
	modelColumn
	callsColumn
	inputColumn
	outputColumn
	cachedColumn
	costColumn
	dollarColumn // a cost whose heading says that it is in USD
	currencyColumn
)

// headings are the columns by their names in small letters and digits alone.
var headings = map[string]column{
	"date": dateColumn, "day": dateColumn, "usagedate": dateColumn, "startdate": dateColumn, "starttime": dateColumn, "starttimeiso": dateColumn, "日期": dateColumn, "时间": dateColumn,
	"model": modelColumn, "modelname": modelColumn, "modelid": modelColumn, "模型": modelColumn, "模型名称": modelColumn,
	"calls": callsColumn, "requests": callsColumn, "nummodelrequests": callsColumn, "nrequests": callsColumn, "调用数": callsColumn, "请求数": callsColumn,
	"input": inputColumn, "inputtokens": inputColumn, "prompttokens": inputColumn, "ncontexttokenstotal": inputColumn, "输入token": inputColumn, "输入tokens": inputColumn,
	"output": outputColumn, "outputtokens": outputColumn, "completiontokens": outputColumn, "ngeneratedtokenstotal": outputColumn, "输出token": outputColumn, "输出tokens": outputColumn,
	"cached": cachedColumn, "cachedtokens": cachedColumn, "cachedinputtokens": cachedColumn, "inputcachedtokens": cachedColumn, "cachereadtokens": cachedColumn, "cachereadinputtokens": cachedColumn, "缓存token": cachedColumn, "缓存tokens": cachedColumn,
	"cost": costColumn, "amount": costColumn, "amountvalue": costColumn, "totalcost": costColumn, "费用": costColumn, "金额": costColumn,
	"costusd": dollarColumn, "amountusd": dollarColumn,
	"currency": currencyColumn, "amountcurrency": currencyColumn, "货币": currencyColumn, "币种": currencyColumn,
}

var (
	dateText   = regexp.MustCompile(`^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ].*)?$`)
	numberText = regexp.MustCompile(`^-?\d{1,15}(\.\d{1,20})?$`)
	groupsText = regexp.MustCompile(`^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
	codeText   = regexp.MustCompile(`^[A-Z]{3}$`)
)

// Read reads a CSV file, its columns by their headings in any order, and gives the lines of a month; those of others are
// ignored and counted. Everything that is wrong with it is told by line. Faults: Invalid.
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
	columns, err := columnsOf(heads)
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
		row := reading{columns: columns, record: record, name: fmt.Sprintf("line %d", at), wrong: wrong}
		if row.blank() {
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

func columnsOf(heads []string) (map[column]int, error) {
	columns := map[column]int{}
	for at, head := range heads {
		plain := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, head)
		if of, known := headings[plain]; known {
			if _, twice := columns[of]; !twice {
				columns[of] = at
			}
		}
	}
	has := func(of column) bool { _, found := columns[of]; return found }
	if !has(dateColumn) || !has(modelColumn) || !has(inputColumn) && !has(outputColumn) && !has(costColumn) && !has(dollarColumn) {
		return nil, fault.New(fault.Invalid, "the first line must name the columns: date, model, and at least one of input_tokens, output_tokens and cost; cached_tokens, requests and currency are read too")
	}
	return columns, nil
}

// reading is a line of the file.
type reading struct {
	columns map[column]int
	record  []string
	name    string
	wrong   fault.Fields
}

func (r reading) text(of column) string {
	if at, found := r.columns[of]; found && at < len(r.record) {
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

func (r reading) line() Line {
	l := Line{Model: r.text(modelColumn), Currency: strings.ToUpper(r.text(currencyColumn))}
	if l.Model == "" || len(l.Model) > maxModel || !fault.Storable(l.Model) {
		r.wrong.Add(r.name, "the model must have 1 to %d bytes", maxModel)
	}
	parts := dateText.FindStringSubmatch(r.text(dateColumn))
	if parts != nil {
		day, err := time.Parse("2006-1-2", parts[1]+"-"+parts[2]+"-"+parts[3])
		if err == nil {
			l.Date = day.Format(time.DateOnly)
		}
	}
	if l.Date == "" {
		r.wrong.Add(r.name, "the date must be of the form 2026-10-31")
	}
	l.Calls, l.Input, l.Output, l.Cached = r.count(callsColumn), r.count(inputColumn), r.count(outputColumn), r.count(cachedColumn)
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

// count is a whole number, nil where there is none.
func (r reading) count(of column) *int64 {
	text := ungrouped(r.text(of))
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
