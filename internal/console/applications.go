package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

func (c *Console) listApplications(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) createApplication(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) getApplication(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) updateApplication(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) deleteApplication(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) revealAccessKey(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) rotateAccessKey(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) setApplicationStatus(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) bindCapability(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}
