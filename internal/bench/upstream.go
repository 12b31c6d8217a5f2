package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the mock answers, by the last element of the path.
const (
	jsonPath    = "/v1/json"    // 1 KB of JSON at once
	chunkedPath = "/v1/chunked" // the same in one chunk
	ssePath     = "/v1/sse"     // sseChunks chunks, one every sseEvery
	burstPath   = "/v1/burst"   // burstChunks of them at once
	openAIPath  = "/v1/openai"  // as many, as OpenAI writes them
	holdPath    = "/v1/hold"    // one chunk, then silence until the connection is closed
	evenPath    = "/v1/even"    // chunks, one every sseEvery, in every second turn, until the connection is closed
	oddPath     = "/v1/odd"     // and in the turns between

	sseChunks   = 300
	sseEvery    = 4 * time.Millisecond
	burstChunks = 20
)

// openAIHead is what all chunks of an answer begin with.
const openAIHead = `data: {"id":"chatcmpl-9ab3kLmN0pQrStUv","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01",`

// reported is what answers report of their tokens.
const reported = `"usage":{"prompt_tokens":1234,"completion_tokens":56,"total_tokens":1290}`

var (
	payload    = `{"model":"bench","text":"` + strings.Repeat("abcdefgh", 116) + `",` + reported + `}` // 1 KB
	jsonAnswer = []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Type: application/json\r\n"+
		"X-Request-Id: req_0123456789abcdef\r\nContent-Length: %d\r\n\r\n%s", len(payload), payload))
	sseHead = []byte("HTTP/1.1 200 OK\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Type: text/event-stream\r\n" +
		"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n")
	event    = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("token ", 20) + "\"}}]}\n\n"
	sseChunk = chunkOf(event)
	lastOne  = []byte("0\r\n\r\n")

	// lastEvent is as long as the others.
	lastEvent = fmt.Sprintf("data: {\"choices\":[],%s,\"id\":\"%s\"}\n\n", reported, strings.Repeat("x", len(event)-len("data: {\"choices\":[],,\"id\":\"\"}\n\n")-len(reported)))
	lastChunk = chunkOf(lastEvent)

	chunkedAnswer = []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Type: application/json\r\n"+
		"X-Request-Id: req_0123456789abcdef\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%s", len(payload), payload, lastOne))
	burst = slices.Concat(sseHead, bytes.Repeat(sseChunk, burstChunks-1), lastChunk, lastOne)

	openAIEvent = openAIHead + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"finish_reason\":null}],\"usage\":null}\n\n"
	openAIEnd   = openAIHead + "\"choices\":[]," + reported + "}\n\n"
	openAI      = slices.Concat(sseHead, bytes.Repeat(chunkOf(openAIEvent), burstChunks-1), chunkOf(openAIEnd), lastOne)

	// lengths are how long the bodies of the answers are.
	lengths = map[string]int{jsonPath: len(payload), chunkedPath: len(payload), ssePath: sseChunks * len(event), burstPath: burstChunks * len(event),
		openAIPath: (burstChunks-1)*len(openAIEvent) + len(openAIEnd)}
)

func chunkOf(event string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(event), event) }

// serveUpstream is the mock all proxies stand before: as little work as a server can do, so that it
// takes as little as possible of the machine they share.
func serveUpstream(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = conn.Close() }()
			for br := bufio.NewReaderSize(conn, 4<<10); ; {
				path, err := readRequest(br)
				if err != nil || answer(conn, br, path) != nil {
					return
				}
			}
		}()
	}
}

// readRequest reads a request with a body of known length and returns its path.
func readRequest(br *bufio.Reader) (path string, err error) {
	line, err := br.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	if fields := bytes.Fields(line); len(fields) > 1 {
		path, _, _ = strings.Cut(string(fields[1]), "?")
	}
	length := 0
	for {
		if line, err = br.ReadSlice('\n'); err != nil {
			return "", err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return "", err
			}
		}
	}
	_, err = br.Discard(length)
	return path, err
}

func answer(conn net.Conn, br *bufio.Reader, path string) error {
	switch path {
	case ssePath:
		return stream(conn)
	case evenPath:
		return streamInTurns(conn, 0)
	case oddPath:
		return streamInTurns(conn, 1)
	case holdPath:
		if _, err := conn.Write(append(bytes.Clone(sseHead), sseChunk...)); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, br)
		return fmt.Errorf("the stream was held to its end: %w", err)
	}
	answer := jsonAnswer
	switch path {
	case chunkedPath:
		answer = chunkedAnswer
	case burstPath:
		answer = burst
	case openAIPath:
		answer = openAI
	}
	_, err := conn.Write(answer)
	return err
}

// turn is how long one of many turns is. What a machine's noise does lasts longer, and so hits both of a pair.
const turn = 20 * time.Millisecond

// nextTurn is when the next turn begins of those whose numbers divided by two leave a rest: all processes agree on them.
func nextTurn(now time.Time, rest int) time.Time {
	n := now.UnixNano()/int64(turn) + 1
	if n%2 != int64(rest) {
		n++
	}
	return time.Unix(0, n*int64(turn))
}

// streamInTurns ends with the connection.
func streamInTurns(conn net.Conn, rest int) error {
	_, err := conn.Write(sseHead)
	for err == nil {
		begins := nextTurn(time.Now(), rest)
		for at := time.Duration(0); at < turn && err == nil; at += sseEvery {
			time.Sleep(time.Until(begins.Add(at)))
			_, err = conn.Write(sseChunk)
		}
	}
	return err
}

func stream(conn net.Conn) error {
	ticker := time.NewTicker(sseEvery)
	defer ticker.Stop()
	if _, err := conn.Write(sseHead); err != nil {
		return err
	}
	for range sseChunks - 1 {
		<-ticker.C
		if _, err := conn.Write(sseChunk); err != nil {
			return err
		}
	}
	<-ticker.C
	if _, err := conn.Write(lastChunk); err != nil {
		return err
	}
	_, err := conn.Write(lastOne)
	return err
}
