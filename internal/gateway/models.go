package gateway

import (
	"bytes"
	"net/http"
	"strconv"

	"callgate/internal/access"
)

// modelsAsked is no refusal: it stands for the answers of our own that are none.
var modelsAsked refusal

const modelsPath = "/v1/models"

// asksForModels tells whether a request that names no capability asks which there are, or about one of them. What a
// browser would show is refused as everywhere.
func (c *call) asksForModels() bool {
	return !c.via && (string(c.path) == modelsPath || len(c.modelAsked()) > 0) &&
		(c.method == http.MethodGet || c.method == http.MethodHead) && !c.shown
}

// modelAsked is what stands behind the path of the list, as it was sent; nothing where the list is asked for.
func (c *call) modelAsked() []byte {
	id, ok := bytes.CutPrefix(c.path, []byte(modelsPath+"/"))
	if !ok {
		return nil
	}
	return id
}

// tellModels answers with the capabilities that the key may call now, or with the one asked about, in the shape of
// OpenAI's models, so that programs which offer a choice of models have it. It is no call: nothing is recorded, not
// even that there is no such model. The list is bounded by how many capabilities can be bound, 500 of at most 64
// characters.
func (c *call) tellModels() (again bool) {
	c.request.drain()
	whole := c.request.complete.Load()
	again = whole && !c.x.Last()
	var told []byte
	out := make([]byte, 0, 512)
	if id := c.modelAsked(); id == nil {
		told = c.appendModels(nil)
	} else if capability := c.callable(string(decode(id, false))); capability != nil { // stock clients escape a colon
		told = appendModel(nil, capability)
	}
	if told == nil {
		out = refusedModel.append(out, answering{again: again, old: c.x.Old, head: c.method == http.MethodHead, cors: c.cors})
	} else {
		out = appendInt(append(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"+
			"X-Content-Type-Options: nosniff\r\nContent-Length: "...), int64(len(told)))
		out = append(append(out, "\r\n"...), c.cors...)
		out = append(appendConnection(out, again, c.x.Old), "\r\n"...)
		if c.method != http.MethodHead {
			out = append(out, told...)
		}
	}
	c.dismiss()
	c.unhurry()
	_, err := c.client.Write(out)
	if err == nil && !whole {
		c.x.Linger()
	}
	return again && err == nil
}

// callable is the capability of an identifier, if the key may call it now.
func (c *call) callable(id string) *access.Capability {
	if !c.grant.Bound(id) {
		return nil
	}
	capability := c.gateway.config.Capability(id)
	if capability == nil || !capability.Enabled {
		return nil
	}
	return capability
}

// appendModels adds the list.
func (c *call) appendModels(out []byte) []byte {
	out = append(out, `{"object":"list","data":[`...)
	first := true
	for id := range c.grant.Capabilities() {
		capability := c.callable(id)
		if capability == nil {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = appendModel(out, capability)
	}
	return append(out, "]}"...)
}

// appendModel adds one model. Identifiers need no escapes: they are letters, digits, dots, colons, hyphens and
// underscores.
func appendModel(out []byte, capability *access.Capability) []byte {
	out = append(append(out, `{"id":"`...), capability.ID...)
	out = strconv.AppendInt(append(out, `","object":"model","created":`...), capability.Created.Unix(), 10)
	return append(out, `,"owned_by":"callgate"}`...)
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
