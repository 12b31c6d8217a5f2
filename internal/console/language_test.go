package console

import (
	"strings"
	"testing"

	"callgate/internal/fault"
)

func TestErrorsAreToldInTheLanguageAskedFor(t *testing.T) {
	d := newAuthServer(t, "")
	for wish, chinese := range map[string]bool{
		"": false, "en": false, "fr": false, "*": false, "zh;q=0": false, "not a language, at all!": false,
		"zh": true, "zh-CN": true, "zh-CN,zh;q=0.9,en;q=0.8": true, "zh-Hans": true, "zh-TW": true, "fr, zh;q=0.5, en;q=0.4": true,
		"en-US,en;q=0.9,zh;q=0.8": false, "de, en;q=0.3": false,
		"zh," + strings.Repeat("x-", maxAcceptLanguage): false,
	} {
		got := d.ask("POST", "/api/auth/code", `{"email":"no address"}`, "Accept-Language", wish)
		d.want(fault.Invalid, got)
		message, field, tag := "some fields are invalid", "must be an e-mail address of at most 254 characters", "en"
		if chinese {
			message, field, tag = "部分字段无效", "必须是不超过 254 个字符的邮箱地址", "zh-CN"
		}
		if got.Msg != message || string(got.Data) != `{"fields":{"email":"`+field+`"}}` || got.header.Get("Content-Language") != tag ||
			!strings.Contains(got.header.Get("Vary"), "Accept-Language") {
			t.Errorf("%.40q is answered %q %s in %s", wish, got.Msg, got.Data, got.header.Get("Content-Language"))
		}
	}
	for path, want := range map[string]string{"/api/nothing": "路径不存在", "/api/auth/me": "请先登录：缺少 Authorization 请求头（Bearer 加用户 JWT）"} {
		if got := d.ask("GET", path, "", "Accept-Language", "zh"); got.Msg != want {
			t.Errorf("%s is answered %q", path, got.Msg)
		}
	}
	if got := d.ask("GET", "/api/auth/login", "", "Accept-Language", "zh"); got.Msg != "该路径不支持此请求方法" {
		t.Errorf("answered %q", got.Msg)
	}
	if ok := d.ask("GET", "/api/config", "", "Accept-Language", "zh"); ok.Msg != "ok" {
		t.Errorf("a success is answered %q", ok.Msg)
	}
}
