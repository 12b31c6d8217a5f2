package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

func (c *Console) listCapabilities(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) listGroups(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) getCapability(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) listCapabilityApplications(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}
