package stats_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// held is an application and whose it is.
type held struct {
	registered
	account int
}

// held are all applications, newest first: the accounts were made one after the other.
func (o *oracle) held() (list []held) {
	for account := len(o.accounts) - 1; account >= 0; account-- {
		for _, a := range o.accounts[account] {
			list = append(list, held{a, account})
		}
	}
	return list
}

func (o *oracle) owner(account int) object {
	return object{"id": o.owners[account].String(), "email": fmt.Sprintf("account%d@example.com", account)}
}

// askLists asks for owners, applications or upstreams.
func (o *oracle) askLists(query url.Values, of []record, start, end string) {
	if o.random.IntN(3) == 0 {
		o.compareFigures("/upstreams", query, o.figuresOfUpstreams(of, start, end))
		return
	}
	order := []string{"", "calls", "failures", "failureRate", "tokens", "cost"}[o.random.IntN(6)]
	page, size := 1+o.random.IntN(3), 1+o.random.IntN(6)
	sought := []string{"", "", "ACCOUNT1", "application 1", "nobody"}[o.random.IntN(5)]
	query.Set("sort", order)
	query.Set("q", sought)
	query.Set("page", strconv.Itoa(page))
	query.Set("size", strconv.Itoa(size))
	path, items := "/owners", o.figuresOfOwners(of, order, sought)
	if o.random.IntN(2) == 0 {
		account := o.random.IntN(4) - 1
		if account >= 0 {
			query.Set("owner", o.owners[account].String())
		}
		path, items = "/applications", o.figuresOfApplications(of, order, sought, account)
	}
	first := min((page-1)*size, len(items))
	o.compareFigures(path, query, object{"start": start, "end": end, "page": page, "size": size, "total": len(items), "currency": nil,
		"items": items[first:min(first+size, len(items))]})
}

// descendingBy orders items by a figure; nothing costs anything here.
func descendingBy(items []any, order string) {
	of := func(item any) []float64 {
		block := item.(object)
		calls, failures := block["calls"].(int64), block["failures"].(int64)
		switch order {
		case "failures":
			return []float64{float64(failures)}
		case "failureRate":
			return []float64{float64(failures) / float64(max(calls, 1)), float64(failures)}
		case "tokens":
			input, _ := block["tokens"].(object)["input"].(int64)
			output, _ := block["tokens"].(object)["output"].(int64)
			return []float64{float64(input + output)}
		case "cost":
			return nil
		}
		return []float64{float64(calls)}
	}
	slices.SortStableFunc(items, func(a, b any) int { return slices.Compare(of(b), of(a)) })
}

func (o *oracle) figuresOfApplications(of []record, order, sought string, account int) []any {
	items := []any{}
	for _, a := range o.held() {
		named := strings.ToLower(a.name + "\x00" + a.id.String() + "\x00" + o.owner(a.account)["email"].(string))
		if account >= 0 && a.account != account || !strings.Contains(named, strings.ToLower(sought)) {
			continue
		}
		calls := slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.application != a.id })
		items = append(items, with(figures(calls), object{"id": a.id.String(), "name": a.name, "status": a.status, "owner": o.owner(a.account)}))
	}
	descendingBy(items, order)
	return items
}

func (o *oracle) figuresOfOwners(of []record, order, sought string) []any {
	items := []any{}
	for account, list := range o.accounts {
		if len(list) == 0 || !strings.Contains(o.owner(account)["email"].(string), strings.ToLower(sought)) {
			continue
		}
		calls := slices.DeleteFunc(slices.Clone(of), func(r record) bool { return o.accountOf(r.application) != account })
		items = append(items, with(figures(calls), object{"owner": o.owner(account), "applicationCount": len(list), "callingCount": o.hits(calls)["applicationCount"]}))
	}
	descendingBy(items, order)
	return items
}

// upstreamsFrom is the first day of a range that is told by upstream: its last week only, where a deleted application has calls.
func (o *oracle) upstreamsFrom(model *string, start, end string) string {
	from := max(start, o.retainedFrom())
	for _, r := range o.records {
		if day := r.day(); o.accountOf(r.application) < 0 && (model == nil || r.model == *model) && day >= from && day <= end {
			last, _ := time.Parse(isoDay, end)
			return max(from, last.AddDate(0, 0, -6).Format(isoDay))
		}
	}
	return from
}

func (o *oracle) figuresOfUpstreams(of []record, start, end string) object {
	from := o.upstreamsFrom(nil, start, end)
	read := slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.day() < from })
	since := o.now.Add(-time.Hour).Truncate(time.Millisecond)
	items := []any{}
	for _, id := range []string{"eu", "us", "down"} {
		of := func(from, to time.Time) []record {
			return slices.DeleteFunc(attemptsOf(o.records), func(r record) bool {
				return r.sentTo != id || r.start.Before(from) || !r.start.Before(to) || o.accountOf(r.application) < 0
			})
		}
		lately, before := of(since, o.now.AddDate(1, 0, 0)), of(since.Add(-time.Hour), since)
		ranged := slices.DeleteFunc(o.upstreamsOf(read), func(u any) bool { return u.(object)["upstreamId"] != id })
		if len(lately)+len(before)+len(ranged) == 0 {
			continue
		}
		if len(ranged) == 0 {
			ranged = []any{object{"upstreamId": id, "calls": 0, "failures": 0, "failedOver": 0, "successRate": nil, "p95Ms": nil, "firstByte": firstBytes(nil)}}
		}
		over := slices.DeleteFunc(slices.Clone(lately), func(r record) bool { return r.failedAt == "" })
		hour := hourOf(lately)
		item := object{"upstreamId": id, "calls": len(lately), "failures": hour["failures"], "failedOver": len(over), "p95Ms": 0, "hourBefore": hourOf(before), "range": ranged[0]}
		if len(lately) > 0 {
			item["p95Ms"] = hour["p95Ms"]
		}
		items = append(items, item)
	}
	slices.SortStableFunc(items, func(a, b any) int {
		x, y := a.(object), b.(object)
		return cmp.Or(cmp.Compare(y["calls"].(int), x["calls"].(int)), cmp.Compare(y["range"].(object)["calls"].(int), x["range"].(object)["calls"].(int)))
	})
	return object{"start": start, "end": end, "since": stamp(since), "upstreamsFrom": from, "items": items}
}

// roughly has the percentiles as what upstreams are told with.
func roughly(block object) object {
	for _, name := range []string{"p50Ms", "p95Ms", "p99Ms"} {
		if ms, ok := block[name].(int64); ok {
			block[name] = middle(ms)
		}
	}
	return block
}

// upstreamsOf are some calls by the upstream they went to, the most calls first.
func (o *oracle) upstreamsOf(of []record) []any {
	groups := map[string][]record{}
	for _, r := range attemptsOf(of) {
		groups[r.sentTo] = append(groups[r.sentTo], r)
	}
	items := []any{}
	for id, calls := range groups {
		block := figures(calls)
		ended := slices.DeleteFunc(slices.Clone(calls), func(r record) bool { return r.failedAt != "" })
		over := len(calls) - len(ended)
		var took []int64
		for _, r := range ended {
			took = append(took, r.took+r.failed)
		}
		slices.Sort(took)
		item := object{"upstreamId": nil, "name": nil, "calls": len(calls), "failures": block["failures"], "successRate": block["successRate"], "failedOver": over,
			"firstByte": roughly(firstBytes(ended))}
		for name, percent := range map[string]int{"p50Ms": 50, "p95Ms": 95, "p99Ms": 99} {
			if item[name] = nil; len(took) > 0 {
				item[name] = middle(took[(percent*len(took)+99)/100-1])
			}
		}
		if id != "" {
			item["upstreamId"] = id
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b any) int {
		x, y := a.(object), b.(object)
		return cmp.Or(cmp.Compare(y["calls"].(int), x["calls"].(int)), cmp.Compare(fmt.Sprint(x["upstreamId"]), fmt.Sprint(y["upstreamId"])))
	})
	return items
}
