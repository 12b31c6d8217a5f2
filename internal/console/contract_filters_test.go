package console

import (
	"net/url"
	"time"

	"callgate/internal/beijing"
)

// within brings together what the filters of calls demand of each other.
func (f *fuzzer) within(query url.Values) {
	query.Del(pick(f, []string{"at", "page"})) // one or the other
	if query.Get("result") == "success" {      // these select failures
		query.Del("reason")
		query.Del("upstreamStatus")
		query.Del("text")
	}
	start, err := beijing.ParseDay(query.Get("start"))
	if err != nil {
		query.Del("from")
		query.Del("to")
		return
	}
	if query.Has("from") {
		query.Set("from", beijing.Format(start.Start().Add(time.Duration(f.random.IntN(3600))*time.Second)))
	}
	if query.Has("to") {
		query.Set("to", start.End().UTC().Format(time.RFC3339))
	}
}

// filter is a value of a filter of statistics.
func (f *fuzzer) filter(today beijing.Day, name string) (any, bool) {
	switch name {
	case "reason":
		return pick(f, []string{"", "timeout", "upstream_http_error:upstream_status"}), true
	case "upstreamStatus":
		return pick(f, []int{0, 200, 500}), true
	case "text":
		return pick(f, []string{"x", "100%", "限流"}), true
	case "day":
		return (today - beijing.Day(f.random.IntN(300))).String(), true
	}
	return nil, false
}
