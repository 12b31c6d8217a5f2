package stats_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// narrow is what calls are narrowed by besides model and result.
type narrow struct {
	from, to       time.Time
	reason, code   string
	ofReason       bool
	status         int
	upstream       int
	ofUpstream     bool
	text, message  string
	failuresWanted bool
	key            uuid.UUID
}

// timely tells whether a call started within the times of day.
func (n narrow) timely(r record) bool {
	return (n.from.IsZero() || !r.start.Before(n.from)) && (n.to.IsZero() || r.start.Before(n.to))
}

// matches tells whether a call became what is asked for.
func (n narrow) matches(m *model, r record) bool {
	switch {
	case n.failuresWanted && r.success,
		n.key != uuid.Nil && r.key() != n.key,
		n.ofReason && (r.reason != n.reason || n.code != "" && r.code != n.code),
		n.status != 0 && r.status != n.status,
		n.ofUpstream && r.upstream != n.upstream,
		n.text != "" && (!m.detailed(r) || !strings.Contains(strings.ToLower(r.kept.message), strings.ToLower(n.text))),
		n.message != "" && (!m.detailed(r) || said(r.kept.message) != n.message):
		return false
	}
	return true
}

// detailed tells whether the detail of a failure is still kept.
func (m *model) detailed(r record) bool {
	return r.kept != nil && r.day() > m.now.In(beijingZone).AddDate(0, 0, -30).Format(isoDay)
}

var (
	ids     = regexp.MustCompile(`[A-Za-z_-]*[0-9][A-Za-z0-9_-]{11,}`)
	numbers = regexp.MustCompile(`(^|[^A-Za-z0-9_-])[0-9]+(?:[.,:][0-9]+)*(?:(?:ms|s|m|h)\b|%)?`)
)

// said is what messages that say the same have in common.
func said(message string) string {
	letters := []rune(message)
	return numbers.ReplaceAllString(ids.ReplaceAllString(string(letters[:min(200, len(letters))]), "#"), "${1}#")
}

// messages are the failures by what their messages say.
func (m *model) messages(of []registered, start, end string, ofModel *string, result string, n narrow) object {
	n.failuresWanted = true
	matching, _ := m.flow(of, start, end, ofModel, result, n)
	groups := map[string][]record{}
	total := 0
	for _, r := range matching { // newest first
		if m.detailed(r) && r.kept.message != "" {
			groups[said(r.kept.message)] = append(groups[said(r.kept.message)], r)
			total++
		}
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	items, other := []any{}, total
	for _, name := range names[:min(20, len(names))] {
		group := groups[name]
		each := map[uuid.UUID]int{}
		for _, r := range group {
			each[r.application]++
		}
		top := slices.MinFunc(slices.Collect(maps.Keys(each)), func(a, b uuid.UUID) int {
			return cmp.Or(cmp.Compare(each[b], each[a]), bytes.Compare(a[:], b[:]))
		})
		hit := of[slices.IndexFunc(of, func(a registered) bool { return a.id == top })]
		newest := []rune(group[0].kept.message)
		items = append(items, object{
			"message": name, "newest": string(newest[:min(200, len(newest))]), "failures": len(group),
			"firstSeen": group[len(group)-1].start.In(beijingZone).Format("2006-01-02T15:04:05.000+08:00"), "lastSeen": group[0].start.In(beijingZone).Format("2006-01-02T15:04:05.000+08:00"), "applicationCount": len(each),
			"topApplication": object{"id": top.String(), "name": hit.name, "status": hit.status, "failures": each[top]},
		})
		other -= len(group)
	}
	return object{"failures": total, "items": items, "other": object{"messages": len(names) - len(items), "failures": other}}
}

// head is what the CSV says of a message.
func (m *model) head(r record) string {
	if !m.detailed(r) {
		return ""
	}
	if letters := []rune(r.kept.message); len(letters) > 200 {
		return string(letters[:200]) + "…"
	}
	return r.kept.message
}

func (m *model) reason(r record) any {
	if r.success || r.reason == "" {
		return nil
	}
	told := object{"type": r.reason, "code": r.code, "upstreamStatus": nil}
	if r.upstream != 0 {
		told["upstreamStatus"] = r.upstream
	}
	return told
}

func (m *model) reasonLine(r record) []string {
	if r.success || r.reason == "" {
		return []string{"", "", "", ""}
	}
	upstream, head := "", m.head(r)
	if r.upstream != 0 {
		upstream = strconv.Itoa(r.upstream)
	}
	if strings.HasPrefix(head, "=") {
		head = "'" + head
	}
	return []string{r.reason, r.code, upstream, head}
}

// narrow draws filters and adds them to a question.
func (o *oracle) narrow(query url.Values, start, end, result string) (n narrow) {
	if o.random.IntN(3) == 0 {
		o.times(query, start, end, &n)
	}
	if o.random.IntN(5) < 2 {
		return n
	}
	if result != "success" {
		switch o.random.IntN(5) {
		case 0:
			n.ofReason = true
			pick := []string{"", "timeout", "interrupted", "upstream_http_error", "permission_denied:application_disabled", "interrupted:upstream_closed"}[o.random.IntN(6)]
			n.reason, n.code, _ = strings.Cut(pick, ":")
			query.Set("reason", pick)
		case 1:
			n.ofUpstream, n.upstream = true, []int{0, 200, 429, 500}[o.random.IntN(4)]
			query.Set("upstreamStatus", strconv.Itoa(n.upstream))
		case 2:
			if o.random.IntN(2) == 0 {
				n.message = []string{"too many requests: # of your # in #, #", "nowhere", said("=1+1 100% _Über " + strings.Repeat("长", 230))}[o.random.IntN(3)]
				query.Set("message", n.message)
				break
			}
			n.text = []string{"TOO many", "100% _", "über", "%", "nowhere", "长"}[o.random.IntN(6)]
			query.Set("text", n.text)
		}
		n.failuresWanted = n.ofReason || n.ofUpstream || n.text != "" || n.message != ""
	}
	if o.random.IntN(3) == 0 {
		n.key[0] = byte(1 + o.random.IntN(4)) // the last one made no calls
		query.Set("key", n.key.String())
	}
	if o.random.IntN(3) == 0 {
		n.status = []int{200, 201, 403, 429, 499, 500}[o.random.IntN(6)]
		query.Set("status", strconv.Itoa(n.status))
	}
	return n
}

// times draws instants within the days: of calls, of hours and days, and any.
func (o *oracle) times(query url.Values, start, end string, n *narrow) {
	first, _ := time.ParseInLocation(isoDay, start, beijingZone)
	last, _ := time.ParseInLocation(isoDay, end, beijingZone)
	last = last.AddDate(0, 0, 1)
	draw := func() time.Time {
		at := first.Add(time.Duration(o.random.Int64N(int64(last.Sub(first)))))
		switch o.random.IntN(4) {
		case 0:
			at = o.records[o.random.IntN(len(o.records))].start
		case 1:
			at = at.Truncate(time.Hour)
		case 2:
			at = o.now.Add(-time.Duration(o.random.IntN(7200)) * time.Second)
		}
		return at.Truncate(time.Millisecond).In(beijingZone)
	}
	from, to := draw(), draw()
	if to.Before(from) {
		from, to = to, from
	}
	const layout = "2006-01-02T15:04:05.000Z07:00"
	if !from.Before(first) && from.Before(last) {
		n.from = from
		query.Set("from", from.Format(layout))
	}
	if to.After(first) && !to.After(last) && to.After(from) && o.random.IntN(4) > 0 {
		n.to = to
		query.Set("to", to.Format(layout))
	}
}

// why asks for reasons, a day by the hour, or one call by its id.
func (o *oracle) why(account int, query url.Values, start, end string) {
	of, path := o.accounts[account], "/overview"
	if len(of) > 0 && o.random.IntN(2) == 0 {
		of = of[o.random.IntN(len(of)):][:1]
		path = "/" + of[0].id.String()
	}
	if o.random.IntN(4) == 0 {
		o.compareFound(account)
		return
	}
	day := ""
	if o.random.IntN(2) == 0 {
		day = []string{start, end, o.records[o.random.IntN(len(o.records))].day()}[o.random.IntN(3)]
		query, start, end = url.Values{"day": {day}}, day, day
	}
	calls := o.of(of, start, end)
	if o.random.IntN(3) == 0 {
		model := []string{"", "gpt", "claude", "rare", "never called"}[o.random.IntN(5)]
		query.Set("model", model)
		calls = slices.DeleteFunc(calls, func(r record) bool { return r.model != model })
	}
	if day == "" {
		o.compare(account, path+"/reasons", query, o.reasons(of, calls, path == "/overview"))
	} else {
		o.compare(account, path+"/hourly", query, hourly(calls, day))
	}
}

// reasons are those of some calls, and what is left over.
func (o *oracle) reasons(of []registered, calls []record, overview bool) object {
	groups := map[string][]record{}
	failures := 0
	for _, r := range calls {
		if !r.success {
			key := fmt.Sprintf("%s\x00%s\x00%03d\x00%s", r.reason, r.code, r.upstream, r.model)
			groups[key] = append(groups[key], r)
			failures++
		}
	}
	keys := make([]string, 0, len(groups))
	for key := range groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	items, others, left := []any{}, 0, 0
	for i, key := range keys {
		if i >= 20 {
			others, left = others+1, left+len(groups[key])
			continue
		}
		items = append(items, o.reasonItem(of, groups[key], overview))
	}
	return object{"failures": failures, "items": items, "other": object{"reasons": others, "failures": left}}
}

func (o *oracle) reasonItem(of []registered, group []record, overview bool) object {
	r := group[0]
	item := object{"type": nil, "code": nil, "upstreamStatus": nil, "model": r.model, "failures": len(group)}
	if r.reason != "" {
		item["type"], item["code"] = r.reason, r.code
	}
	if r.upstream != 0 {
		item["upstreamStatus"] = r.upstream
	}
	first, last, hit := r.start, r.start, map[uuid.UUID]int{}
	for _, r := range group {
		if r.start.Before(first) {
			first = r.start
		}
		if r.start.After(last) {
			last = r.start
		}
		hit[r.application]++
	}
	const layout = "2006-01-02T15:04:05.000+08:00"
	item["firstSeen"], item["lastSeen"] = first.In(beijingZone).Format(layout), last.In(beijingZone).Format(layout)
	if !overview {
		return item
	}
	var top registered
	for _, a := range of {
		if hit[a.id] > hit[top.id] || hit[a.id] > 0 && hit[a.id] == hit[top.id] && slices.Compare(a.id[:], top.id[:]) < 0 {
			top = a
		}
	}
	item["applicationCount"] = len(hit)
	item["topApplication"] = object{"id": top.id.String(), "name": top.name, "status": top.status, "failures": hit[top.id]}
	return item
}

// hourly are the 24 hours of a day.
func hourly(calls []record, day string) object {
	hours := []any{}
	for hour := range 24 {
		at := fmt.Sprintf("%sT%02d:00:00.000+08:00", day, hour)
		var of []record
		for _, r := range calls {
			if r.start.In(beijingZone).Hour() == hour {
				of = append(of, r)
			}
		}
		block := figures(of)
		delete(block, "tokens")
		hours = append(hours, with(block, object{"hour": at, "firstByte": firstBytes(of)}))
	}
	return object{"start": day, "end": day, "hours": hours}
}

// compareFound asks for any call by its id: somebody else's and one of a deleted application are absent.
func (o *oracle) compareFound(account int) {
	r := o.records[o.random.IntN(len(o.records))]
	path := "/api/calls/" + r.id.String()
	i := slices.IndexFunc(o.accounts[account], func(a registered) bool { return a.id == r.application })
	if i < 0 || r.day() < o.retainedFrom() {
		status, body := o.getAt(account, path, nil)
		o.cells++
		if status != 404 || !strings.Contains(string(body), `"code":40401`) {
			o.t.Errorf("%s: %d %s", path, status, body)
		}
		return
	}
	a := o.accounts[account][i]
	want := with(r.shown(), object{"failure": nil})
	if !r.success {
		want, _ = o.failure(r)
	}
	o.compareAt(account, path, nil, with(want, object{"application": object{"id": a.id.String(), "name": a.name, "status": a.status}}))
}
