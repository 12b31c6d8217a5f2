package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

func (c *Console) applicationStatistics(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) overviewStatistics(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) oneApplicationStatistics(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) listCalls(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) exportCalls(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) getCall(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}
