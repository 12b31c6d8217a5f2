package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

func (c *Console) config(*fiber.Ctx) (any, error) { return nil, fault.New(fault.Internal, "not built") }

func (c *Console) sendCode(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) logIn(*fiber.Ctx) (any, error) { return nil, fault.New(fault.Internal, "not built") }

func (c *Console) renewToken(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) logOut(*fiber.Ctx) (any, error) { return nil, fault.New(fault.Internal, "not built") }

func (c *Console) me(*fiber.Ctx) (any, error) { return nil, fault.New(fault.Internal, "not built") }

func (c *Console) listSessions(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) endSession(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) oidcLogin(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) oidcCallback(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) sendAdminCode(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) adminLogIn(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) renewAdminToken(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}

func (c *Console) adminLogOut(*fiber.Ctx) (any, error) {
	return nil, fault.New(fault.Internal, "not built")
}
