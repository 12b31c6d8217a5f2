package gateway

import (
	"fmt"
	"strings"

	"callgate/internal/calls"
	"callgate/internal/http1"
)

// The headers by which a caller says what a call is made for, and for whom. They never go to an upstream.
const (
	xTags = "x-callgate-tags"
	xUser = "x-callgate-user"
)

// dimensions are what the caller says of a call. A call never fails for them: what cannot be kept is left out, and the answer says
// how much that is.
type dimensions struct {
	tags    []calls.Tag
	endUser string // as it is kept
	ignored string // the header line that says what was left out
}

// readDimensions reads them. The Access Key is no tag and nobody's id: what holds it is left out.
func (g *Gateway) readDimensions(r *http1.Request, key []byte) (d dimensions) {
	var lists, users []string
	for _, f := range r.Fields() {
		switch name := r.Name(f); {
		case http1.EqualFold(name, xTags):
			lists = append(lists, string(r.Value(f)))
		case http1.EqualFold(name, xUser) && len(r.Value(f)) > 0:
			users = append(users, string(r.Value(f)))
		}
	}
	list := strings.Join(lists, ",")
	var left, wrong int
	if strings.Contains(list, string(key)) {
		left = strings.Count(list, ",") + 1
	} else {
		d.tags, left = calls.ReadTags(list)
	}
	switch {
	case len(users) == 1 && calls.IsEndUser(users[0]) && !strings.Contains(users[0], string(key)):
		if g.config.EndUser != nil {
			d.endUser = g.config.EndUser(users[0])
		}
	case len(users) > 0:
		wrong = 1
	}
	if left+wrong > 0 {
		d.ignored = fmt.Sprintf("X-Callgate-Ignored: tags=%d, user=%d\r\n", left, wrong)
	}
	return d
}
