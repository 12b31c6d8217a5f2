package boot

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"callgate/internal/beijing"
	"callgate/internal/config"
	"callgate/internal/identity"
	"callgate/internal/secret"
)

// SignInCode writes to out a code by which the administrator of an address signs in, see identity.OperatorCode.
func SignInCode(ctx context.Context, c config.Config, email string, out io.Writer, logger *slog.Logger) error {
	pool, err := openPostgres(ctx, c.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	mail, err := identity.NewMailer(c.SMTPURL, c.MailFrom)
	if err != nil {
		return fmt.Errorf("SMTP_URL: %w", err)
	}
	people, err := identity.New(identityConfig(c, secret.Pepper(c.AccessKeyPepper)), pool, mail, logger)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	defer people.Close(ctx)
	code, expires, err := people.OperatorCode(ctx, email, commandLine)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\nEnter it at %s/admin, as the code of a mail, until %s.\n", code, c.PublicBaseURL, beijing.Format(expires))
	return err
}
