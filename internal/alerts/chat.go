package alerts

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// chatBody is what a group's bot takes. A bot with a secret wants a signature: Feishu in the body, DingTalk in the URL.
func chatBody(j job, address *string, key string, now time.Time) ([]byte, error) {
	t, err := wordsOf(j.Payload)
	if err != nil {
		return nil, err
	}
	text := t.heading + "\n" + t.text
	switch j.Kind {
	case Feishu:
		// A name must not call everybody in the group: <at user_id="all">.
		message := map[string]any{"msg_type": "text", "content": map[string]string{"text": strings.NewReplacer("<", "＜", ">", "＞").Replace(text)}}
		if key != "" {
			at := strconv.FormatInt(now.Unix(), 10)
			message["timestamp"], message["sign"] = at, signature(at+"\n"+key, "")
		}
		return json.Marshal(message)
	case DingTalk:
		if key != "" {
			at := strconv.FormatInt(now.UnixMilli(), 10)
			*address = withQuery(*address, "timestamp", at, "sign", signature(key, at+"\n"+key))
		}
		return json.Marshal(map[string]any{"msgtype": "text", "text": map[string]string{"content": text}})
	case WeCom:
		return json.Marshal(map[string]any{"msgtype": "text", "text": map[string]string{"content": brief(text, 2000)}})
	case Slack:
		return json.Marshal(map[string]any{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)})
	default:
		return nil, fmt.Errorf("no body for %s", j.Kind)
	}
}

func signature(key, message string) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(message)) // never fails (hash.Hash)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// withQuery adds pairs to what query there is.
func withQuery(address string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	joint := "?"
	if strings.Contains(address, "?") {
		joint = "&"
	}
	return address + joint + values.Encode()
}

// brief cuts a text to so many bytes, WeCom's bound, between two characters.
func brief(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := text[:most]
	return strings.ToValidUTF8(cut, "") + "…"
}

// taken tells whether a bot took a message: but for Slack's, they answer 200 to what they refuse, with a code of their own.
func taken(kind ChannelKind, answer []byte) bool {
	if kind == Slack {
		return true
	}
	var codes struct {
		Code       *int64 `json:"code"`       // Feishu
		StatusCode *int64 `json:"StatusCode"` // Feishu, of older bots
		ErrCode    *int64 `json:"errcode"`    // DingTalk and WeCom
	}
	if err := json.Unmarshal(answer, &codes); err != nil {
		return false
	}
	told := false
	for _, code := range []*int64{codes.Code, codes.StatusCode, codes.ErrCode} {
		if code != nil {
			told = true
			if *code != 0 {
				return false
			}
		}
	}
	return told
}
