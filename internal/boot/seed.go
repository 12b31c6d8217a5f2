//go:build embedded

package boot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/catalog"
	"callgate/internal/demo"
	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/identity"
)

const (
	demoAdmin     = "admin@callgate.local"
	demoDeveloper = "demo@callgate.local"
	demoChat      = "demo-chat"
	demoClaude    = "demo-claude"
	demoGroup     = "demo"
	demoActor     = "callgate dev"
)

// seeded is what the welcome text shows.
type seeded struct {
	accessKey   string
	token       string // user JWT of the demo developer
	owner       uuid.UUID
	application uuid.UUID
	created     bool // by this start
}

// seed makes the demo catalog, signs the demo developer in and gives them an application, each only
// when it is missing. The upstream's address and key are set anew: its port may have changed.
func (n *Node) seed(ctx context.Context, dataDir string, engines *embedded.Engines) (seeded, error) {
	if err := n.seedCatalog(ctx, engines.Upstream()); err != nil {
		return seeded{}, fmt.Errorf("demo catalog: %w", err)
	}
	who, token, err := n.signInDemo(ctx, dataDir, engines.Mailbox())
	if err != nil {
		return seeded{}, fmt.Errorf("demo sign-in: %w", err)
	}
	d := seeded{token: token, owner: who}
	if err := n.seedApplication(ctx, &d); err != nil {
		return seeded{}, fmt.Errorf("demo application: %w", err)
	}
	return d, nil
}

func (n *Node) seedCatalog(ctx context.Context, upstream *demo.Upstream) error {
	group := catalog.GroupSettings{ID: ptr(demoGroup), Name: ptr("Demo")}
	if _, err := n.catalog.CreateGroup(ctx, demoActor, group); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	for _, c := range []catalog.Settings{
		{
			ID: ptr(demoChat), Name: ptr("Demo chat"), UpstreamAuth: ptr("bearer"), DefaultPath: ptr("/v1/chat/completions"), SortOrder: ptr(int64(1)),
			Description: ptr("OpenAI-style chat of the demo upstream. Models: demo, demo-slow, demo-cut, demo-error-429."),
		},
		{
			ID: ptr(demoClaude), Name: ptr("Demo messages"), UpstreamAuth: ptr("x-api-key"), DefaultPath: ptr("/v1/messages"), SortOrder: ptr(int64(2)),
			Description: ptr("Anthropic-style messages of the demo upstream."),
		},
	} {
		if err := n.seedCapability(ctx, c, upstream); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) seedCapability(ctx context.Context, c catalog.Settings, upstream *demo.Upstream) error {
	address := catalog.Settings{UpstreamBaseURL: ptr(upstream.URL()), UpstreamKey: ptr(upstream.Key())}
	stored, err := n.catalog.Details(ctx, *c.ID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		c.GroupID, c.UpstreamModel = ptr(demoGroup), ptr("demo")
		c.UpstreamBaseURL, c.UpstreamKey = address.UpstreamBaseURL, address.UpstreamKey
		_, err = n.catalog.Create(ctx, demoActor, c)
		return err
	case err != nil || stored.UpstreamBaseURL == upstream.URL():
		return err
	}
	_, err = n.catalog.Update(ctx, demoActor, *c.ID, address)
	return err
}

// signInDemo signs the demo developer in as anybody would, by the code of a mail. The session is
// kept for later starts: a new code may be asked for only once a minute.
func (n *Node) signInDemo(ctx context.Context, dataDir string, mails *demo.Mailbox) (uuid.UUID, string, error) {
	const client = "127.0.0.1"
	kept := filepath.Join(dataDir, "demo-session")
	if session, err := os.ReadFile(kept); err == nil {
		if token, who, err := n.identity.Renew(ctx, identity.Developer, string(session)); err == nil {
			return who.UserID, token.Value, nil
		}
	}
	code, err := n.demoCode(ctx, client, mails)
	if err != nil {
		return uuid.Nil, "", err
	}
	in, err := n.identity.LogIn(ctx, identity.Developer, demoDeveloper, code, identity.Program(client), demoActor)
	if err != nil {
		return uuid.Nil, "", err
	}
	return in.Principal.UserID, in.Token.Value, os.WriteFile(kept, []byte(in.SessionToken), 0o600)
}

// demoCode asks for a code and reads it from the mail. After a start that was killed half-way no
// new code is sent for a minute; it is asked for until then.
func (n *Node) demoCode(ctx context.Context, client string, mails *demo.Mailbox) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 70*time.Second)
	defer cancel()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	var asked time.Time
	for {
		if time.Since(asked) > 5*time.Second {
			if err := n.identity.SendCode(ctx, identity.Developer, demoDeveloper, identity.Program(client)); err != nil {
				return "", err
			}
			asked = time.Now()
		}
		if caught := mails.Mails(demoDeveloper); len(caught) > 0 && caught[0].Code != "" {
			return caught[0].Code, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no sign-in mail came: %w", ctx.Err())
		case <-poll.C:
		}
	}
}

func (n *Node) seedApplication(ctx context.Context, d *seeded) error {
	all, err := n.applications.All(ctx, d.owner)
	if err != nil {
		return err
	}
	if d.created = len(all) == 0; d.created {
		var made application.Application
		made, d.accessKey, err = n.applications.Create(ctx, d.owner, application.Draft{
			Name: "Demo", Description: "Made by callgate dev to try things out.", CapabilityIDs: []string{demoChat, demoClaude},
		})
		d.application = made.ID
		return err
	}
	d.application = all[len(all)-1].ID
	d.accessKey, err = n.applications.RevealKey(ctx, d.owner, d.application, demoActor)
	return err
}

func ptr[T any](v T) *T { return &v }
