package telemetry

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// NewPlainLogger logs for people: one sentence a line, what belongs to it in brackets, without time and
// level. Levels are those of NewLogger.
func NewPlainLogger(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(&plainHandler{level: l, mu: new(sync.Mutex), to: w})
}

type plainHandler struct {
	level slog.Level
	mu    *sync.Mutex
	to    io.Writer
	attrs string // of the logger, ready to be appended
	group string
}

func (h *plainHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *plainHandler) Handle(_ context.Context, record slog.Record) error {
	details := h.attrs
	record.Attrs(func(a slog.Attr) bool {
		details += h.detail(a)
		return true
	})
	line := record.Message
	if record.Level >= slog.LevelWarn {
		line = strings.ToLower(record.Level.String()) + ": " + line
	}
	if details != "" {
		line += " (" + strings.TrimPrefix(details, ", ") + ")"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.to, line+"\n")
	return err
}

func (h *plainHandler) detail(a slog.Attr) string {
	if a.Equal(slog.Attr{}) {
		return ""
	}
	return ", " + h.group + a.Key + " " + a.Value.Resolve().String()
}

func (h *plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		with.attrs += h.detail(a)
	}
	return &with
}

func (h *plainHandler) WithGroup(name string) slog.Handler {
	with := *h
	with.group += name + "."
	return &with
}
