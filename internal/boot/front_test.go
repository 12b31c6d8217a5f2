package boot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"callgate/internal/config"
	"callgate/internal/openapi/contract"
)

func TestConnectionsLeaveDescriptorsForUpstreamsAndStores(t *testing.T) {
	for _, test := range []struct {
		asked int
		role  config.Role
		files uint64
		most  int
		short bool
	}{
		{0, config.All, 4_096, 1_792, false},
		{0, config.Gateway, 1 << 20, 65_536, false},
		{0, config.Console, 4_096, 3_584, false},
		{0, config.Gateway, 256, 96, false},
		{100, config.Gateway, 4_096, 100, false},
		{65_536, config.Gateway, 4_096, 3_584, true},
		{100_000, config.Gateway, 1<<64 - 1, 100_000, false},
	} {
		most, short := connectionCap(config.Config{MaxConns: test.asked, Role: test.role}, test.files)
		if most != test.most || short != test.short {
			t.Errorf("MAX_CONNS=%d, %s, %d files: %d %v", test.asked, test.role, test.files, most, short)
		}
	}
}

// TestAConnectionTooManyIsAnsweredInTheGatewaysWords: the answer is written by hand, and nobody knows yet what will be asked.
func TestAConnectionTooManyIsAnsweredInTheGatewaysWords(t *testing.T) {
	answers := bufio.NewReader(bytes.NewReader(refusedConnection))
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(answers); len(rest) != 0 {
		t.Errorf("%q follows the answer", rest)
	}
	if response.StatusCode != http.StatusServiceUnavailable || !response.Close || response.Header.Get("X-Should-Retry") != "" {
		t.Errorf("%d, closes %v, %v", response.StatusCode, response.Close, response.Header)
	}
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Message == "" || said.Message != said.Error.Message || said.Type != "error" {
		t.Errorf("%s: %v", body, err)
	}
	documented, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	asked := &url.URL{Path: "/gateway/v1/chat/completions", RawQuery: "model=m"}
	if err := documented.Check(contract.Exchange{Method: http.MethodPost, URL: asked, Status: response.StatusCode, Header: response.Header, Body: body}); err != nil {
		t.Error(err)
	}
}
