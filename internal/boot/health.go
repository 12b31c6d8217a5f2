package boot

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/config"
)

// checkTimeout bounds one question to one store.
const checkTimeout = time.Second

// health answers the probes of an orchestrator. A gateway needs its grants only: it keeps serving
// while stores are away, so a probe must not take it out of rotation for them.
type health struct {
	draining atomic.Bool
	needed   map[string]func(context.Context) error
}

func (h *health) register(app *fiber.App) {
	app.Get("/health/live", func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "live"}) })
	app.Get("/health/ready", h.ready)
}

// ready answers 503 while draining or when a needed part is down, and says which.
func (h *health) ready(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	status, parts := "ready", fiber.Map{}
	for name, check := range h.needed {
		parts[name] = "up"
		if check(ctx) != nil {
			parts[name], status = "down", "unavailable"
		}
	}
	if h.draining.Load() {
		status = "draining"
	}
	if status != "ready" {
		c.Status(fiber.StatusServiceUnavailable)
	}
	return c.JSON(fiber.Map{"status": status, "parts": parts})
}

func (n *Node) newHealth() *health {
	h := &health{needed: map[string]func(context.Context) error{}}
	if n.config.Role != config.Console {
		h.needed["access"] = func(context.Context) error { return n.resolver.Ready() }
	}
	if n.config.Role != config.Gateway {
		h.needed["postgres"] = n.pool.Ping
	}
	return h
}
