package gateway

import (
	"net/http"
	"strconv"
)

// modelsAsked is no refusal: it stands for the one answer of our own that is none.
var modelsAsked refusal

// asksForModels tells whether a request that names no capability asks which there are. What a browser would
// show is refused as everywhere.
func (c *call) asksForModels() bool {
	return !c.via && string(c.path) == "/v1/models" && (c.method == http.MethodGet || c.method == http.MethodHead) && !c.shown
}

// listModels answers with the capabilities that the key may call now, in the shape of OpenAI's list of models,
// so that programs which offer a choice of models have it. It is no call: nothing is recorded. The answer is
// bounded by how many capabilities can be bound, 500 of at most 64 characters.
func (c *call) listModels() (again bool) {
	c.request.drain()
	whole := c.request.complete.Load()
	again = whole && !c.x.Last()
	list := c.appendModels(nil)
	out := appendInt([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\nContent-Length: "), int64(len(list)))
	out = append(appendConnection(append(out, "\r\n"...), again, c.x.Old), "\r\n"...)
	if c.method != http.MethodHead {
		out = append(out, list...)
	}
	c.dismiss()
	c.unhurry()
	_, err := c.client.Write(out)
	if err == nil && !whole {
		c.x.Linger()
	}
	return again && err == nil
}

// appendModels adds the list. Identifiers need no escapes: they are letters, digits, dots, colons, hyphens
// and underscores.
func (c *call) appendModels(out []byte) []byte {
	out = append(out, `{"object":"list","data":[`...)
	first := true
	for id := range c.grant.Capabilities() {
		capability := c.gateway.config.Capability(id)
		if capability == nil || !capability.Enabled {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(out, `{"id":"`...), capability.ID...)
		out = strconv.AppendInt(append(out, `","object":"model","created":`...), capability.Created.Unix(), 10)
		out = append(out, `,"owned_by":"callgate"}`...)
	}
	return append(out, "]}"...)
}

// dismiss ends what was no call: it is not recorded.
func (c *call) dismiss() {
	c.mu.Lock()
	c.ended, c.recorded = true, true
	c.mu.Unlock()
	c.request.release(c.gateway)
	c.share.leave()
	c.gateway.supervisor.remove(c)
}
