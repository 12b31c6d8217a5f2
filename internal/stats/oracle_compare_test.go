package stats_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func (o *oracle) get(account int, path string, query url.Values) (status int, body []byte) {
	o.t.Helper()
	return o.getAt(account, "/api/statistics/applications"+path, query)
}

func (o *oracle) getAt(account int, path string, query url.Values) (status int, body []byte) {
	o.t.Helper()
	request, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.base+path+"?"+query.Encode(), nil)
	if err != nil {
		o.t.Fatal(err)
	}
	if o.credential != "" {
		request.Header.Set("Authorization", "Bearer "+o.credential)
	} else {
		request.Header.Set("Cookie", "callgate_session="+o.sessions[account])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err != nil {
		o.t.Fatal(err)
	}
	o.asked++
	return response.StatusCode, body
}

// compare wants every value of want in the answer's data, and lists of the same length.
func (o *oracle) compare(account int, path string, query url.Values, want object) {
	o.t.Helper()
	o.compareAt(account, "/api/statistics/applications"+path, query, want)
}

func (o *oracle) compareAt(account int, path string, query url.Values, want object) {
	o.t.Helper()
	status, body := o.getAt(account, path, query)
	var got struct{ Data any }
	if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
		o.t.Fatalf("%s?%s: %d %s", path, query.Encode(), status, body)
	}
	o.walk(path+"?"+query.Encode(), "", got.Data, plain(o.t, want))
}

func plain(t *testing.T, value any) (decoded any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func (o *oracle) walk(where, at string, got, want any) {
	switch want := want.(type) {
	case map[string]any:
		of, ok := got.(map[string]any)
		if !ok {
			o.t.Fatalf("%s: %s is %v, want an object", where, at, got)
		}
		for name, value := range want {
			o.walk(where, at+"."+name, of[name], value)
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			o.t.Fatalf("%s: %s has %d elements, want %d\n%v", where, at, len(list), len(want), got)
		}
		for i := range want {
			o.walk(where, fmt.Sprintf("%s[%d]", at, i), list[i], want[i])
		}
	default:
		if o.cells++; got != want {
			o.t.Errorf("%s: %s is %v, want %v", where, at, got, want)
		}
	}
}

func (o *oracle) compareText(account int, path string, query url.Values, want string) {
	o.t.Helper()
	o.compareTextAt(account, "/api/statistics/applications"+path, query, want)
}

func (o *oracle) compareTextAt(account int, path string, query url.Values, want string) {
	o.t.Helper()
	status, body := o.getAt(account, path, query)
	o.cells += strings.Count(want, ",")
	if status != http.StatusOK || string(body) != want {
		o.t.Errorf("%s?%s: %d\n got %s\nwant %s", path, query.Encode(), status, body, want)
	}
}

func (o *oracle) compareFailure(account int, one string, r record) {
	o.t.Helper()
	path := one + "/calls/" + r.id.String()
	want, refusal := o.failure(r)
	if refusal == 0 {
		o.compare(account, path, nil, want)
		return
	}
	status, body := o.get(account, path, nil)
	o.cells++
	if status != http.StatusNotFound || !strings.Contains(string(body), fmt.Sprintf(`"code":%d`, refusal)) {
		o.t.Errorf("%s: %d %s, want %d", path, status, body, refusal)
	}
}
