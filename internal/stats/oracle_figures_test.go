package stats_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// deskSession is the token of an administrator's session.
var deskSession = strings.Repeat("9", 43)

// openDesk makes what administrators ask about besides applications, and a session of one.
func (o *oracle) openDesk(pool *pgxpool.Pool) {
	o.t.Helper()
	hash := sha256.Sum256([]byte(deskSession))
	_, err := pool.Exec(o.t.Context(), `INSERT INTO sessions (id, audience, email, token_hash, expires_at)
		VALUES ($1, 'callgate-admin', 'root@example.com', $2, now() + interval '1 day')`, uuid.New(), hash[:])
	for _, statement := range []string{
		`INSERT INTO capability_groups (id, name, sort_order) VALUES ('g', 'G', 1)`,
		`INSERT INTO capabilities (id, name, group_id, description, sort_order, status, upstream_base_url, upstream_key, upstream_auth)
			SELECT id, upper(id), 'g', '', 1, 'enabled', 'http://127.0.0.1:1', '', 'bearer' FROM unnest(ARRAY['gpt', 'claude', 'idle']) id`,
	} {
		if err == nil {
			_, err = pool.Exec(o.t.Context(), statement)
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// deskToken signs the administrator in, once.
func (o *oracle) deskToken() string {
	o.t.Helper()
	if o.desk != "" {
		return o.desk
	}
	request, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.base+"/api/admin/auth/token", nil)
	if err != nil {
		o.t.Fatal(err)
	}
	request.Header.Set("Cookie", "callgate_admin_session="+deskSession)
	request.Header.Set("Origin", o.base)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(response.Body)
	var got struct{ Data struct{ Token string } }
	if err := json.Unmarshal(body, &got); err != nil || got.Data.Token == "" {
		o.t.Fatalf("an administrator's token: %d %s", response.StatusCode, body)
	}
	o.desk = got.Data.Token
	return o.desk
}

// compareFigures asks as the administrator.
func (o *oracle) compareFigures(path string, query url.Values, want object) {
	o.t.Helper()
	o.credential = o.deskToken()
	defer func() { o.credential = "" }()
	o.compareAt(0, "/api/admin/statistics"+path, query, want)
}

// askFigures asks for one of the administrators' figures.
func (o *oracle) askFigures(query url.Values, start, end string) {
	of := o.of(slices.Concat(o.accounts...), start, end)
	switch o.random.IntN(6) {
	case 0, 1, 2:
		o.askLists(query, of, start, end)
	case 3:
		o.compareFigures("/overview", query, o.figuresOverview(of, start, end))
	case 4:
		o.compareFigures("/capabilities", query, o.figuresOfCapabilities(of, start, end))
	default:
		model := []string{"gpt", "claude", "idle"}[o.random.IntN(3)]
		o.compareFigures("/capabilities/"+model, query, o.figuresOfCapability(ofModel(of, model), model, start, end))
	}
}

func ofModel(of []record, model string) []record {
	return slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.model != model })
}

func failed(of []record) []record {
	return slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.success })
}

// hits counts applications and owners of some calls.
func (o *oracle) hits(of []record) object {
	applications, owners := map[uuid.UUID]bool{}, map[int]bool{}
	for _, r := range of {
		applications[r.application] = true
		owners[o.accountOf(r.application)] = true
	}
	return object{"applicationCount": len(applications), "ownerCount": len(owners)}
}

func (o *oracle) accountOf(id uuid.UUID) int {
	return slices.IndexFunc(o.accounts, func(list []registered) bool {
		return slices.ContainsFunc(list, func(a registered) bool { return a.id == id })
	})
}

// lately are the calls of existing applications in the sixty minutes that end so many hours ago.
func (o *oracle) lately(model *string, hours int) (found []record) {
	end := o.now.Truncate(time.Millisecond).Add(-time.Duration(hours) * time.Hour)
	for _, r := range o.records {
		if r.start.After(end.Add(-time.Hour)) && !r.start.After(end) && o.accountOf(r.application) >= 0 && (model == nil || r.model == *model) {
			found = append(found, r)
		}
	}
	return found
}

func hourOf(of []record) object {
	block := figures(of)
	var took []int64
	for _, r := range of {
		took = append(took, r.took)
	}
	view := object{"calls": block["calls"], "failures": block["failures"], "successRate": block["successRate"], "p95Ms": nil}
	if len(took) > 0 {
		slices.Sort(took)
		view["p95Ms"] = took[(95*len(took)+99)/100-1]
	}
	return view
}

func (o *oracle) hours(model *string) object {
	return object{"until": stamp(o.now.Truncate(time.Millisecond)), "lastHour": hourOf(o.lately(model, 0)), "hourBefore": hourOf(o.lately(model, 1))}
}

func stamp(at time.Time) string { return at.In(beijingZone).Format("2006-01-02T15:04:05.000+08:00") }

// groupedFailures tells failures apart by a key, the most first, and at most so many.
func (o *oracle) groupedFailures(of []record, most int, key func(record) string, more func(group []record) object) object {
	groups, keys := map[string][]record{}, []string{}
	for _, r := range failed(of) {
		if groups[key(r)] == nil {
			keys = append(keys, key(r))
		}
		groups[key(r)] = append(groups[key(r)], r)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b)) })
	items, others, left, all := []any{}, 0, 0, 0
	for i, k := range keys {
		all += len(groups[k])
		if i >= most {
			others, left = others+1, left+len(groups[k])
			continue
		}
		items = append(items, more(groups[k]))
	}
	return object{"failures": all, "items": items, "other": object{"reasons": others, "failures": left}}
}

func ofKind(r record) string { return r.reason + "\x00" + r.code }

func ofReason(r record) string {
	return fmt.Sprintf("%s\x00%s\x00%03d\x00%s", r.reason, r.code, r.upstream, r.model)
}

func (o *oracle) failureItem(group []record) object {
	return with(o.reasonItem(nil, group, false), o.hits(group))
}

func (o *oracle) kindItem(group []record) object {
	item := o.failureItem(group)
	delete(item, "model")
	delete(item, "upstreamStatus")
	return item
}

func (o *oracle) figuresOverview(of []record, start, end string) object {
	all, enabled, owners := 0, 0, 0
	for _, list := range o.accounts {
		all += len(list)
		owners += min(1, len(list))
		for _, a := range list {
			if a.status == "active" {
				enabled++
			}
		}
	}
	before := o.lately(nil, 1)
	now := o.groupedFailures(o.lately(nil, 0), 100, ofReason, func(group []record) object {
		same := slices.DeleteFunc(failed(before), func(r record) bool { return ofReason(r) != ofReason(group[0]) })
		item := o.failureItem(slices.Concat(group, same))
		return with(item, with(o.hits(group), object{"failures": len(group), "failuresBefore": len(same), "topApplications": o.mostHit(group)}))
	})
	return with(figures(of), object{
		"start": start, "end": end, "missed": 0, "retainedFrom": o.retainedFrom(), "applicationCount": all, "enabledCount": enabled, "ownerCount": owners,
		"calling": o.hits(of), "failing": o.hits(failed(of)), "daily": o.daily(of, start, end), "hours": o.hours(nil),
		"reasons": o.groupedFailures(of, 20, ofKind, o.kindItem), "worst": o.groupedFailures(of, 20, ofReason, o.failureItem), "now": now,
	})
}

// mostHit are the three applications with the most of some failures.
func (o *oracle) mostHit(of []record) []any {
	items := []any{}
	for _, a := range o.held() {
		if n := len(of) - len(slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.application == a.id })); n > 0 {
			items = append(items, object{"id": a.id.String(), "name": a.name, "status": a.status, "owner": o.owner(a.account), "failures": n})
		}
	}
	slices.SortFunc(items, func(a, b any) int {
		x, y := a.(object), b.(object)
		return cmp.Or(cmp.Compare(y["failures"].(int), x["failures"].(int)), cmp.Compare(x["id"].(string), y["id"].(string)))
	})
	return items[:min(3, len(items))]
}

func (o *oracle) figuresOfCapabilities(of []record, start, end string) object {
	models := []string{"claude", "gpt", "idle"}
	for _, r := range slices.Concat(of, o.lately(nil, 0), o.lately(nil, 1)) {
		models = append(models, r.model)
	}
	slices.Sort(models)
	models = slices.Compact(models)
	slices.SortStableFunc(models, func(a, b string) int { return cmp.Compare(len(ofModel(of, b)), len(ofModel(of, a))) })
	items := []any{}
	for _, model := range models {
		calls := ofModel(of, model)
		item := with(figures(calls), object{
			"model": model, "name": "", "status": nil, "calling": o.hits(calls), "failing": o.hits(failed(calls)),
			"lastHour": hourOf(o.lately(&model, 0)), "hourBefore": hourOf(o.lately(&model, 1)),
		})
		if slices.Contains([]string{"claude", "gpt", "idle"}, model) {
			item["name"], item["status"] = strings.ToUpper(model), "enabled"
		}
		items = append(items, item)
	}
	return object{"start": start, "end": end, "hoursUntil": stamp(o.now.Truncate(time.Millisecond)), "items": items}
}

func (o *oracle) figuresOfCapability(of []record, model, start, end string) object {
	from := o.upstreamsFrom(&model, start, end)
	read := slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.day() < from })
	callers := o.callers(of)
	return object{
		"start": start, "end": end, "capability": object{"id": model, "name": strings.ToUpper(model), "status": "enabled"},
		"summary": figures(of), "daily": o.daily(of, start, end), "calling": o.hits(of), "failing": o.hits(failed(of)), "hours": o.hours(&model),
		"reasons":       o.groupedFailures(of, 20, ofReason, o.failureItem),
		"applications":  object{"total": len(callers), "items": callers[:min(50, len(callers))]},
		"upstreamsFrom": from, "firstByte": roughly(firstBytes(read)), "upstreams": o.upstreamsOf(read),
	}
}

// callers are the applications of some calls, the most failures first.
func (o *oracle) callers(of []record) []any {
	items := []any{}
	for account, list := range o.accounts {
		for _, a := range list {
			calls := slices.DeleteFunc(slices.Clone(of), func(r record) bool { return r.application != a.id })
			if len(calls) == 0 {
				continue
			}
			item := object{"id": a.id.String(), "name": a.name, "status": a.status, "owner": object{"email": fmt.Sprintf("account%d@example.com", account)},
				"calls": len(calls), "failures": len(failed(calls)), "successRate": figures(calls)["successRate"], "lastFailureAt": nil}
			for _, r := range failed(calls) {
				if at := stamp(r.start); item["lastFailureAt"] == nil || at > item["lastFailureAt"].(string) {
					item["lastFailureAt"] = at
				}
			}
			items = append(items, item)
		}
	}
	slices.SortFunc(items, func(a, b any) int {
		x, y := a.(object), b.(object)
		return cmp.Or(cmp.Compare(y["failures"].(int), x["failures"].(int)), cmp.Compare(y["calls"].(int), x["calls"].(int)), cmp.Compare(x["id"].(string), y["id"].(string)))
	})
	return items
}
