package alerts

import (
	"net/url"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// payload is the body of a webhook; words.go makes sentences of it for people.
type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      event  `json:"data"`
}

type event struct {
	EventID          uuid.UUID `json:"eventId"`
	Sequence         *int64    `json:"sequence"`
	Rule             ruleName  `json:"rule"`
	Target           Target    `json:"target"`
	State            Value     `json:"state"`
	Since            *string   `json:"since"`
	Measured         *float64  `json:"measured"`
	Threshold        float64   `json:"threshold"`
	ResolveThreshold float64   `json:"resolveThreshold"`
	Unit             string    `json:"unit"`
	WindowMinutes    *int64    `json:"windowMinutes"`
	Figures          Figures   `json:"figures"`
	URL              string    `json:"url"`
}

type ruleName struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Kind Kind      `json:"kind"`
}

func payloadOf(r *Rule, id uuid.UUID, kind string, sequence *int64, pages string, now time.Time) payload {
	e := event{
		EventID: id, Sequence: sequence, Rule: ruleName{r.ID, r.Name, r.Kind}, Target: r.Target, State: r.State.Value,
		Measured: r.State.Measured, Threshold: r.Threshold, ResolveThreshold: r.ResolveThreshold, Unit: r.Unit(),
		Figures: r.State.Figures, URL: pages + pageOf(r),
	}
	if r.State.Since != nil {
		e.Since = instant(*r.State.Since)
	}
	if r.Kind.windowed() {
		e.WindowMinutes = &r.WindowMinutes
	}
	return payload{Type: "alert." + kind, Timestamp: beijing.Format(now), Data: e}
}

// pageOf is the path of the page that shows a rule's target.
func pageOf(r *Rule) string {
	switch t := r.Target; t.Type {
	case Application:
		return "/applications/" + *t.ID
	case Capability:
		return "/admin/capabilities/" + url.PathEscape(*t.ID)
	case Upstream:
		return "/admin/upstreams"
	case Account:
		return "/"
	default:
		if r.Kind == DayClosed {
			return "/admin/spools"
		}
		return "/admin"
	}
}
