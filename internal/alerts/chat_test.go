package alerts

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestChatsAndMailSayWhatHappened in both languages, signed where a bot wants it, and what a bot refuses is not delivered.
func TestChatsAndMailSayWhatHappened(t *testing.T) {
	w := newWorld(t)
	refused := false
	h := newHook(t, nil)
	h.answer = func(out http.ResponseWriter, in *http.Request) {
		answer := map[string]string{"/feishu": `{"code":0,"msg":"success"}`, "/dingtalk": `{"errcode":0,"errmsg":"ok"}`, "/wecom": `{"errcode":0}`, "/slack": `ok`}[in.URL.Path]
		if refused {
			answer = strings.Replace(answer, ":0", ":19001", 1)
		}
		_, _ = out.Write([]byte(answer))
	}
	key := "bot-secret"
	d := draft(w.app, "")
	d.Name, d.Channels = `<at user_id="all"> & <!channel>`, []ChannelDraft{{Kind: Mail}}
	for _, kind := range []ChannelKind{Feishu, DingTalk, WeCom, Slack} {
		address := h.URL + "/" + string(kind) + "?access_token=hook-canary"
		draft := ChannelDraft{Kind: kind, URL: &address}
		if kind == Feishu || kind == DingTalk {
			draft.Secret = &key
		}
		d.Channels = append(d.Channels, draft)
	}
	r := w.rule(w.who, d)
	for _, c := range r.Channels {
		if strings.Contains(c.Destination, "canary") || c.HasSecret != (c.Kind == Feishu || c.Kind == DingTalk) {
			t.Errorf("%+v", c)
		}
	}
	w.fire(r)
	w.deliver(quick)
	w.until("all channels", time.Minute, func() bool {
		return w.Count(`SELECT count(*) FROM alert_deliveries WHERE status = 'delivered'`) == 5
	})
	mail := <-w.mails
	if mail[0] != w.who.Email || !strings.Contains(mail[1], "告警触发 / Alert") || !strings.Contains(mail[2], "失败率：50%（阈值 ≥ 20%）") ||
		!strings.Contains(mail[2], "failure rate: 50% (threshold ≥ 20%)") || !strings.Contains(mail[2], "https://callgate.example/applications/"+w.app) {
		t.Errorf("mail %q", mail)
	}
	for _, got := range h.all() {
		var body struct {
			Sign, Timestamp string
			Text            json.RawMessage
			Content         struct{ Text string }
		}
		if err := json.Unmarshal(got.body, &body); err != nil {
			t.Fatal(err)
		}
		query, _ := url.ParseQuery(got.query)
		if strings.Contains(string(got.body), "<at") || strings.Contains(string(got.body), `\u003cat`) && body.Content.Text != "" {
			t.Errorf("calls everybody: %s", got.body)
		}
		switch {
		case body.Content.Text != "": // Feishu
			if body.Sign != signature(body.Timestamp+"\n"+key, "") {
				t.Errorf("Feishu: %s", got.body)
			}
		case query.Get("sign") != "": // DingTalk
			if query.Get("sign") != signature(key, query.Get("timestamp")+"\n"+key) || query.Get("access_token") != "hook-canary" {
				t.Errorf("DingTalk: %s", got.query)
			}
		}
	}
	refused = true
	if _, err := w.Test(w.Ctx, w.who, r.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.until("refusals", time.Minute, func() bool {
		return w.Count(`SELECT count(*) FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id WHERE e.kind = 'test' AND d.error = 'refused'`) == 3
	})
}
