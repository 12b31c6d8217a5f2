package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// event is one server-sent event.
type event struct {
	name string
	data any
	raw  string // instead of data
}

// typed is an event whose data repeats its name, as most providers' do.
func typed(kind string, fields object) event {
	fields["type"] = kind
	return event{name: kind, data: fields}
}

// stream sends events one by one, each flushed; a cut one breaks after half of them.
func stream(w http.ResponseWriter, r *http.Request, p prompt, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flush := http.NewResponseController(w).Flush
	for i, e := range events {
		if p.cut && i == len(events)/2 {
			breakOff(w)
		}
		if i > 0 && !wait(r.Context(), p.gap) {
			return
		}
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		text := []byte(e.raw)
		if e.raw == "" {
			encoded, err := json.Marshal(e.data)
			if err != nil {
				breakOff(w)
			}
			text = encoded
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || flush() != nil {
			return // the caller left
		}
	}
}
