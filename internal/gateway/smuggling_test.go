package gateway

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"

	"callgate/internal/calls"
)

const key1 = "Authorization: Bearer " + goodKey + "\r\n"

// bothRoots are the targets of one call: its capability in the query, and in the path.
var bothRoots = [...]string{"/gateway/v1?model=m", "/via/m/v1"}

var underRoot = regexp.MustCompile(`/gateway(/\S*)\?model=([\w-]+) `)

// underVia is a request with its capability in its path; one that names none, or more, stays as it is.
func underVia(raw string) string { return underRoot.ReplaceAllString(raw, "/via/$2$1 ") }

// malformedHeads are requests whose head two servers could read in two ways, or that no server should read.
var malformedHeads = map[string]string{
	"length and chunks":           "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
	"chunks and length":           "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
	"chunks and length 0":         "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n",
	"two codings":                 "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
	"a coding hidden by case":     "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\ntransfer-ENCODING: identity\r\n",
	"folded coding":               "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding:\r\n chunked\r\n",
	"folded length":               "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n 2\r\n",
	"folded header":               "POST @ HTTP/1.1\r\nHost: g\r\nX: a\r\n\tb\r\n",
	"fold before the first":       "POST @ HTTP/1.1\r\n Host: g\r\nX: a\r\n",
	"identity coding":             "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: identity\r\n",
	"odd coding":                  "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: xchunked\r\n",
	"chunked twice in a list":     "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked, chunked\r\n",
	"chunked not last":            "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked, identity\r\n",
	"compressed coding":           "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: gzip, chunked\r\n",
	"coding with a parameter":     "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked;q=1\r\n",
	"coding after a form feed":    "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: \x0cchunked\r\n",
	"coding after vertical tab":   "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\x0b\r\n",
	"quoted coding":               "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: \"chunked\"\r\n",
	"empty coding":                "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding:\r\nContent-Length: 0\r\n",
	"chunks in HTTP/1.0":          "POST @ HTTP/1.0\r\nHost: g\r\nTransfer-Encoding: chunked\r\n",
	"underscored coding":          "POST @ HTTP/1.1\r\nHost: g\r\nTransfer_Encoding: chunked\r\nContent-Length: 5\r\n",
	"underscored length":          "POST @ HTTP/1.1\r\nHost: g\r\nContent_Length: 5\r\n",
	"two lengths":                 "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
	"same length twice":           "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\nContent-Length: 0\r\n",
	"lengths in a list":           "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 5, 5\r\n",
	"signed length":               "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: +5\r\n",
	"negative length":             "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: -1\r\n",
	"hexadecimal length":          "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 0x5\r\n",
	"length with a space":         "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 5 5\r\n",
	"length with a tail":          "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 5a\r\n",
	"empty length":                "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length:\r\n",
	"length beyond 64 bits":       "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 18446744073709551621\r\n",
	"decimal length":              "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length: 5.0\r\n",
	"space before the colon":      "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding : chunked\r\n",
	"tab before the colon":        "POST @ HTTP/1.1\r\nHost: g\r\nContent-Length\t: 5\r\n",
	"NUL in a name":               "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding\x00: chunked\r\n",
	"high byte in a name":         "POST @ HTTP/1.1\r\nHost: g\r\nTransfer-Encoding\xa0: chunked\r\n",
	"bare line feed":              "POST @ HTTP/1.1\r\nHost: g\r\nX: a\nTransfer-Encoding: chunked\r\n",
	"line feeds only":             "POST @ HTTP/1.1\nHost: g\nContent-Length: 0\n",
	"carriage return in a value":  "POST @ HTTP/1.1\r\nHost: g\r\nX: a\rTransfer-Encoding: chunked\r\n",
	"two carriage returns":        "POST @ HTTP/1.1\r\nHost: g\r\nX: a\r\r\n",
	"NUL in a value":              "POST @ HTTP/1.1\r\nHost: g\r\nX: a\x00b\r\n",
	"no name":                     "POST @ HTTP/1.1\r\nHost: g\r\n: x\r\n",
	"no colon":                    "POST @ HTTP/1.1\r\nHost: g\r\nGET / HTTP/1.1\r\n",
	"name with a space":           "POST @ HTTP/1.1\r\nHost: g\r\nX Y: x\r\n",
	"two hosts":                   "POST @ HTTP/1.1\r\nHost: g\r\nHost: other\r\n",
	"two keys":                    "POST @ HTTP/1.1\r\nHost: g\r\n" + key1,
	"empty line of line feeds":    "POST @ HTTP/1.1\r\nHost: g\r\nX: a\n\nGET /gateway/smuggled?model=m HTTP/1.1\r\nHost: g\r\n",
	"five Connection lines":       "POST @ HTTP/1.1\r\nHost: g\r\n" + strings.Repeat("Connection: a\r\n", 5),
	"space in the target":         "POST /gateway/v1 x?model=m HTTP/1.1\r\nHost: g\r\n",
	"NUL in the target":           "POST /gateway/v1\x00?model=m HTTP/1.1\r\nHost: g\r\n",
	"carriage return in target":   "POST /gateway/v1\r?model=m HTTP/1.1\r\nHost: g\r\n",
	"space after the capability":  "POST /via/m x/v1 HTTP/1.1\r\nHost: g\r\n",
	"NUL in the capability":       "POST /via/m\x00/v1 HTTP/1.1\r\nHost: g\r\n",
	"HTTP/2 without an agreement": "PRI * HTTP/2.0\r\n\r\nSM\r\n",
	"no version":                  "POST @\r\nHost: g\r\n",
}

// malformedBodies are chunked bodies with more than one reading, or none.
var malformedBodies = map[string]string{
	"signed size":               "+5\r\nhello\r\n0\r\n\r\n",
	"negative size":             "-5\r\nhello\r\n0\r\n\r\n",
	"hexadecimal prefix":        "0x5\r\nhello\r\n0\r\n\r\n",
	"empty size":                "\r\nhello\r\n0\r\n\r\n",
	"space before the size":     " 5\r\nhello\r\n0\r\n\r\n",
	"size beyond 64 bits":       "10000000000000005\r\nhello\r\n0\r\n\r\n",
	"line feed after the size":  "5\nhello\r\n0\r\n\r\n",
	"line feed in an extension": "5;a\n\r\nhello\r\n0\r\n\r\n",
	"line feed after the data":  "5\r\nhello\n0\r\n\r\n",
	"data longer than its size": "5\r\nhelloo\r\n0\r\n\r\n",
	"data without an end":       "5\r\nhello0\r\n\r\n",
	"line feed ends it":         "5\r\nhello\r\n0\n\n",
	"carriage return only":      "5\rhello\r\n0\r\n\r\n",
	"size of other letters":     "5g\r\nhello\r\n0\r\n\r\n",
	"size of many digits":       strings.Repeat("0", 40) + "5\r\nhello\r\n0\r\n\r\n",
	"largest size of 64 bits":   "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
	"size line without an end":  "5;" + strings.Repeat("a", 200_000),
	"trailer without a colon":   "5\r\nhello\r\n0\r\ngarbage\r\n\r\n",
	"trailer with a NUL":        "5\r\nhello\r\n0\r\nX: a\x00b\r\n\r\n",
	"trailer of framing":        "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
	"trailer without an end":    "5\r\nhello\r\n0\r\nX: " + strings.Repeat("a", 200_000),
	"data after the end":        "5\r\nhello\r\n0\r\nhello\r\n\r\n",
}

func TestRequestsThatTwoServersCouldReadInTwoWaysAreRefusedAndTheConnectionClosed(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	smuggled := "GET /gateway/smuggled?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n"
	for name, head := range malformedHeads {
		for _, target := range bothRoots {
			t.Run(name, func(t *testing.T) {
				conn := r.dial()
				_, _ = io.WriteString(conn, strings.Replace(head, "@", target, 1)+key1+"\r\n"+smuggled)
				all, _ := io.ReadAll(conn)
				if !strings.HasPrefix(string(all), "HTTP/1.1 400") || strings.Count(string(all), "HTTP/1.1 ") != 1 || strings.Contains(string(all), goodKey) {
					t.Errorf("answered %q", all)
				}
				if len(r.asked) != 0 || len(r.records) != 0 {
					t.Errorf("%d requests reached the upstream, %d records", len(r.asked), len(r.records))
				}
			})
		}
	}
	for name, body := range malformedBodies {
		t.Run("chunked body, "+name, func(t *testing.T) { r.refusesChunks(t, body+smuggled) })
		t.Run("chunked body, later "+name, func(t *testing.T) { // when its beginning is on its way to the upstream
			r.refusesChunks(t, strings.TrimSuffix(inChunks(noise(100_000), 10_000), "0\r\n\r\n")+body+smuggled)
		})
	}
	if n := len(malformedHeads) + len(malformedBodies); n < 40 {
		t.Errorf("%d requests only", n)
	}
}

// refusesChunks sends a chunked body and more: it is answered and recorded as invalid, no end of it
// reaches the upstream, and what follows is not read.
func (r *rig) refusesChunks(t *testing.T, body string) {
	t.Helper()
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.WriteString(conn, "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n"+key1+"Transfer-Encoding: chunked\r\n\r\n"+body)
	}()
	br := bufio.NewReader(conn)
	a := r.read(br, "POST")
	if a.StatusCode != 400 || a.err != nil || !a.Close || errorCode(a.body) != "invalid_request" {
		t.Errorf("answered %d %q (%v)", a.StatusCode, a.body, a.err)
	}
	if rest, err := io.ReadAll(br); err != nil || len(rest) > 0 {
		t.Errorf("%q came after the answer (%v)", rest, err)
	}
	record := r.record()
	if record.StatusCode != 400 || record.EndedBy != calls.Denied || record.ReasonType != calls.InvalidRequest || record.ReasonCode != calls.CodeInvalidRequest ||
		record.Model != "m" || record.CallID.String() != a.Header.Get("X-Call-Id") || record.Failure.BodyNote != calls.NotFullyRead {
		t.Errorf("record %+v", record)
	}
	if len(r.asked) != 0 {
		t.Errorf("the upstream was asked %+v", <-r.asked)
	}
}

// errorCode is the code of an error answer.
func errorCode(body []byte) string {
	var answer struct {
		Error struct{ Message, Code string }
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error.Message == "" {
		return ""
	}
	return answer.Error.Code
}

// TestCallerThatCutsAChunkedBodyHasNotEndedIt lets a caller close its side, and only that, after every
// byte of a well-formed body: until the last one the upstream must not be given an end.
func TestCallerThatCutsAChunkedBodyHasNotEndedIt(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for what, body := range map[string]string{
		"small": "5;a=b\r\nhello\r\n1\r\nx\r\n0\r\nX-Trailer: a\r\n\r\n",
		"large": inChunks(noise(60_000), 20_000),
	} {
		for n := range len(body) + 1 {
			if n > 30 && n < len(body)-30 && n%20_008 > 12 {
				continue
			}
			conn := r.dial()
			_, _ = io.WriteString(conn, "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n"+key1+"Transfer-Encoding: chunked\r\n\r\n"+body[:n])
			_ = conn.(*net.TCPConn).CloseWrite()
			a := r.read(bufio.NewReader(conn), "POST")
			_ = conn.Close()
			record := r.record()
			if n == len(body) {
				if a.StatusCode != 200 || !record.Success || len(r.asked) != 1 {
					t.Errorf("%s, whole: answered %d, upstream asked %d times, record %+v", what, a.StatusCode, len(r.asked), record)
				}
				<-r.asked
				continue
			}
			if a.StatusCode != 0 || record.StatusCode != 499 || record.ReasonCode != calls.ClientClosed || len(r.asked) != 0 {
				t.Errorf("%s, %d of %d bytes: answered %d, upstream asked %d times, record %+v", what, n, len(body), a.StatusCode, len(r.asked), record)
			}
		}
	}
}
