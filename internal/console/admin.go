package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

func (c *Console) adminListGroups(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) createGroup(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) orderGroups(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) adminGetGroup(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) updateGroup(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) adminListCapabilities(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) createCapability(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) orderCapabilities(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) checkCapability(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) adminGetCapability(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) updateCapability(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) setCapabilityStatus(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) listAudit(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}
