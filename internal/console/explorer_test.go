package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// failed stores a failed call and its detail, with a message and a body.
func (w *watcher) failed(app, model string, ago time.Duration, status int, message string) uuid.UUID {
	w.t.Helper()
	id := w.called(app, model, ago, 10, status)
	w.exec(`INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query)
		VALUES ($1, fromUnixTimestamp64Milli($2), $3, $4, 'POST', '/v1/x', $5, $6)`,
		app, w.now.Add(-ago).UnixMilli(), id.String(), message, `{"secret":"body of a caller"}`, "{}")
	return id
}

// TestAnOwnerReachesNothingOfAnothersByAnyFilterOrId asks everything that is not asked by an application's id.
func TestAnOwnerReachesNothingOfAnothersByAnyFilterOrId(t *testing.T) {
	c := newCrowd(t)
	sameDay(t, c.watcher)
	theirs := c.application(c.rightClient, "Theirs")
	mine := c.application(c.otherClient, "Mine")
	hidden := c.failed(theirs, "gpt", time.Minute, 502, "their message")
	trace := strings.Repeat("ab", 16)
	c.exec(`ALTER TABLE calls UPDATE trace_id = $1 WHERE call_id = $2 SETTINGS mutations_sync = 1`, trace, hidden.String())
	c.failed(mine, "gpt", time.Minute, 429, "my message")
	absent := "/api/calls/" + uuid.Must(uuid.NewV7()).String()
	for _, with := range []credential{bearerOf(c.other.Token.Value), cookieWith(sessionCookie, c.other.SessionToken)} {
		for _, path := range []string{
			"/api/calls?traceId=" + trace,
			"/api/statistics/applications/overview/reasons", "/api/statistics/applications/overview/reasons?model=gpt",
			"/api/statistics/applications?q=Theirs", "/api/statistics/applications?q=" + theirs, "/api/statistics/applications?sort=failures",
			"/api/statistics/calls", "/api/statistics/calls?application=" + theirs, "/api/statistics/calls?traceId=" + trace, "/api/statistics/calls?text=their",
			"/api/statistics/calls.csv", "/api/statistics/calls.csv?application=" + theirs,
			"/api/statistics/calls/facets", "/api/statistics/calls/facets?application=" + theirs, "/api/statistics/calls/facets?application=" + mine + "&text=their",
			"/api/statistics/applications/overview/hourly", "/api/statistics/applications/" + mine + "/calls?traceId=" + trace,
			"/api/statistics/applications/" + mine + "/calls?text=their", "/api/statistics/applications/" + mine + "/calls?status=502",
			"/api/statistics/applications/" + mine + "/calls.csv?upstreamStatus=502", "/api/statistics/applications/" + mine + "/reasons",
		} {
			got := c.ask("GET", path, "", with)
			for _, of := range []string{theirs, hidden.String(), "Theirs", "their message", "502", "body of a caller"} {
				if got.status != 200 || strings.Contains(got.raw, of) && !strings.Contains(path, of) {
					t.Errorf("%s: %d, tells of %q: %s", path, got.status, of, got.raw)
				}
			}
		}
		foreign, none := c.ask("GET", "/api/calls/"+hidden.String(), "", with), c.ask("GET", absent, "", with)
		if foreign.status != 404 || foreign.withoutID() != none.withoutID() {
			t.Errorf("a foreign call:\n%s\nan absent one:\n%s", foreign.withoutID(), none.withoutID())
		}
	}
	own := c.rightClient.must(200, "GET", "/api/calls?traceId="+trace, "")
	if !strings.Contains(own.raw, hidden.String()) || strings.Contains(own.raw, "body of a caller") {
		t.Errorf("its owner is told %s", own.raw)
	}
	if one := c.rightClient.must(200, "GET", "/api/calls/"+hidden.String(), ""); !strings.Contains(one.raw, `"name":"Theirs"`) || !strings.Contains(one.raw, "their message") {
		t.Errorf("its owner is told %s", one.raw)
	}
}

func TestAFilterThatCannotBeMeantIsRefusedWithWhatToDo(t *testing.T) {
	w := newWatcher(t)
	dev := w.developer("dev")
	app := w.application(dev, "app")
	today := beijing.Today(w.now)
	list, file := "/api/statistics/applications/"+app+"/calls?", "/api/statistics/applications/"+app+"/calls.csv?"
	outside := url.QueryEscape(beijing.Format(today.Start().AddDate(0, 0, -40)))
	for query, says := range map[string]string{
		"reason=nonsense":                     "must be a reason of failures",
		"reason=timeout:nonsense":             "must be a reason of failures",
		"reason=timeout:":                     "must be a reason of failures",
		"reason=:timeout":                     "must be a reason of failures",
		"status=99":                           "must be an integer from 100 to 599",
		"status=":                             "must be an integer from 100 to 599",
		"status=2xx":                          "must be an integer from 100 to 599",
		"upstreamStatus=600":                  "must be 0 or an integer from 100 to 599",
		"upstreamStatus=":                     "must be 0 or an integer from 100 to 599",
		"text=":                               "is required",
		"text=" + strings.Repeat("x", 201):    "must have 1 to 200 characters",
		"text=%00":                            "must be UTF-8 text without NUL",
		"text=%ff":                            "must be UTF-8 text without NUL",
		"tag=team":                            "must be name:value",
		"tag=":                                "must be name:value",
		"tag=Team:x":                          "must be name:value",
		"tag=team:" + strings.Repeat("x", 65): "must be name:value",
		"tag=a:1&tag=b:1&tag=c:1&tag=d:1&tag=e:1&tag=f:1": "must not be given more than 5 times",
		"user=":           "must be 1 to 128 characters",
		"user=%ff":        "must be 1 to 128 characters",
		"from=yesterday":  "must be a time of the form",
		"from=" + outside: "must lie within the days from start to end",
		"to=" + outside:   "must lie within the days from start to end",
		"from=2026-08-17T15:00:00Z&to=2026-08-17T15:00:00Z&start=2026-08-17&end=2026-08-17": "must be after from",
		"result=success&reason=timeout": "must be failure or left out",
		"result=success&text=x":         "must be failure or left out",
	} {
		for _, path := range []string{list, file} {
			if got := dev.must(400, "GET", path+query, ""); !strings.Contains(got.raw, says) {
				t.Errorf("%s: %s, want %q", query, got.raw, says)
			}
		}
	}
	for path, says := range map[string]string{
		"/api/calls?traceId=x":                                      "must be 32 lower-case hexadecimal digits",
		"/api/applications?sort=best":                               "must be newest, name, calls, failures or lastCall",
		"/api/applications?status=gone":                             "must be active or disabled",
		"/api/statistics/applications?q=" + strings.Repeat("x", 65): "must have 0 to 64 characters",
		"/api/statistics/applications/overview/hourly?day=today":    "day must be a date",
		"/api/statistics/applications/" + app + "/hourly?day=":      "day must be a date",
	} {
		if got := dev.must(400, "GET", path, ""); !strings.Contains(got.raw, says) {
			t.Errorf("%s: %s, want %q", path, got.raw, says)
		}
	}
}

// TestApplicationsAreFoundAndOrdered holds both lists to the same order.
func TestApplicationsAreFoundAndOrdered(t *testing.T) {
	w := newWatcher(t)
	dev := w.developer("dev")
	sameDay(t, w)
	ids := map[string]string{}
	for i, name := range []string{"banana", "Apple", "cherry", "50%_off"} {
		ids[name] = w.application(dev, name)
		for range i {
			w.called(ids[name], "gpt", time.Duration(10-i)*time.Minute, 5, 200)
		}
	}
	w.called(ids["banana"], "gpt", time.Hour, 5, 500)
	dev.must(200, "PATCH", "/api/applications/"+ids["cherry"]+"/status", `{"status":"disabled"}`)
	for query, want := range map[string][]string{
		"":                           {"50%_off", "cherry", "Apple", "banana"},
		"sort=newest":                {"50%_off", "cherry", "Apple", "banana"},
		"sort=name":                  {"50%_off", "Apple", "banana", "cherry"},
		"sort=calls":                 {"50%_off", "cherry", "Apple", "banana"},
		"sort=failures":              {"banana", "50%_off", "cherry", "Apple"},
		"sort=lastCall":              {"50%_off", "cherry", "Apple", "banana"},
		"q=AN":                       {"banana"},
		"q=" + url.QueryEscape("%_"): {"50%_off"},
		"q=" + ids["Apple"]:          {"Apple"},
		"status=disabled":            {"cherry"},
		"status=active&sort=name":    {"50%_off", "Apple", "banana"},
		"q=nowhere":                  {},
		"sort=name&page=2":           {},
	} {
		for _, list := range []string{"/api/applications?", "/api/statistics/applications?"} {
			got := dev.must(200, "GET", list+query, "")
			var page struct {
				Data struct {
					Items []struct {
						Name       string
						LastCallAt *string
					}
					Total int
				}
			}
			if err := json.Unmarshal([]byte(got.raw), &page); err != nil {
				t.Fatal(err)
			}
			names := []string{}
			for _, a := range page.Data.Items {
				names = append(names, a.Name)
				if a.LastCallAt == nil && strings.Contains(list, "statistics") {
					t.Errorf("%s was called", a.Name)
				}
			}
			if !slices.Equal(names, want) || page.Data.Total != len(want) && !strings.Contains(query, "page") {
				t.Errorf("%s%s: %q of %d, want %q", list, query, names, page.Data.Total, want)
			}
		}
	}
}

// TestALogRowAndACSVRowSayWhy: the CSV with the head of the message, neither with a body.
func TestALogRowAndACSVRowSayWhy(t *testing.T) {
	w := newWatcher(t)
	dev := w.developer("dev")
	sameDay(t, w)
	app := w.application(dev, "app")
	w.failed(app, "gpt", time.Minute, 429, "=quota of the month is used up")
	w.called(app, "gpt", 2*time.Minute, 5, 200)
	path := "/api/statistics/applications/" + app + "/calls"
	page, file := dev.must(200, "GET", path, ""), textOf(t, dev, path+".csv")
	for text, in := range map[string]string{
		`"reason":{"code":"upstream_status","type":"upstream_http_error","upstreamStatus":429}`: page.raw,
		`"reason":null`: page.raw,
		",upstream_http_error,upstream_status,429,'=quota of the month is used up,,,,,,,,\n": file,
		",,,,,,,,,,,,\n": file,
	} {
		if !strings.Contains(in, text) {
			t.Errorf("%s is not in %s", text, in)
		}
	}
	if told := fmt.Sprint(page.raw, file); strings.Contains(told, "body of a caller") {
		t.Errorf("a list tells a body: %s", told)
	}
}

// textOf is an answer that is no JSON.
func textOf(t *testing.T, c *client, path string) string {
	t.Helper()
	got, err := c.send("GET", path, "")
	if got == nil || got.status != 200 {
		t.Fatalf("%s: %+v %v", path, got, err)
	}
	return got.raw
}

// TestCallsAreFoundByWhatTheirCallersSayOfThem, on the page and in the file alike; a user as it was sent too, where a hash is kept.
func TestCallsAreFoundByWhatTheirCallersSayOfThem(t *testing.T) {
	w := newWatcher(t)
	dev := w.developer("dev")
	sameDay(t, w)
	app := w.application(dev, "app")
	said := func(id uuid.UUID, names, values []string, user string) uuid.UUID {
		w.exec("ALTER TABLE calls UPDATE `tags.name` = $1, `tags.value` = $2, end_user = $3 WHERE call_id = $4 SETTINGS mutations_sync = 1", names, values, user, id.String())
		return id
	}
	one := said(w.called(app, "gpt", time.Minute, 5, 200), []string{"feature", "team"}, []string{"rag", "search"}, "kept:ada")
	other := said(w.failed(app, "gpt", 2*time.Minute, 429, "no"), []string{"feature", "team"}, []string{"search", "=ads"}, "eve")
	none := w.called(app, "gpt", 3*time.Minute, 5, 200)
	path := "/api/statistics/applications/" + app + "/calls"
	for query, want := range map[string][]uuid.UUID{
		"": {one, other, none}, "tag=team:search": {one}, "tag=feature:search": {other}, "tag=feature:rag&tag=team:search": {one}, "tag=feature:rag&tag=team:%3Dads": {},
		"user=ada": {one}, "user=kept:ada": {one}, "user=eve": {other}, "user=bob": {}, "user=eve&result=failure&reason=upstream_http_error": {other}, "tag=team:search&result=failure": {},
	} {
		page := dev.must(200, "GET", path+"?"+query, "")
		var answer struct {
			Data struct {
				Total int
				Items []struct {
					CallID uuid.UUID
				}
			}
		}
		if err := json.Unmarshal([]byte(page.raw), &answer); err != nil {
			t.Fatal(err)
		}
		var got []uuid.UUID
		for _, item := range answer.Data.Items {
			got = append(got, item.CallID)
		}
		if !slices.Equal(got, want) && len(got)+len(want) > 0 || answer.Data.Total != len(want) {
			t.Errorf("%q: %d %v, want %v", query, answer.Data.Total, got, want)
		}
		if lines := strings.Count(textOf(t, dev, path+".csv?"+query), "\n") - 1; lines != len(want) {
			t.Errorf("%q: %d lines, want %d", query, lines, len(want))
		}
	}
	for _, raw := range []string{dev.must(200, "GET", path, "").raw, dev.must(200, "GET", "/api/calls/"+other.String(), "").raw} {
		if !strings.Contains(raw, `"tags":{"feature":"search","team":"=ads"}`) || !strings.Contains(raw, `"user":"eve"`) {
			t.Errorf("%s", raw)
		}
	}
	if file := textOf(t, dev, path+".csv"); !strings.Contains(file, `"feature=rag,team=search",kept:ada`) || !strings.Contains(file, `"feature=search,team==ads",eve`) {
		t.Errorf("%s", file)
	}
}
