//go:build replicas

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const zooKeeperName = "zookeeper"

// zooKeeper is a ZooKeeper of Debian's package.
type zooKeeper struct {
	dir   string
	ports *ports
}

// startKeeper starts what replicas need, if there are any.
func (e *Engines) startKeeper(ctx context.Context) error {
	if e.ch.replica == nil {
		return nil
	}
	for _, c := range e.shards() {
		if c.replica.server == "" {
			if err := knownEngine(); err != nil {
				return err
			}
		} else if err := e.state.ports.settle(c.replica.fetches); err != nil {
			return err
		}
	}
	if err := e.state.ports.settle(zooKeeperName); err != nil {
		return err
	}
	z := &zooKeeper{dir: filepath.Join(e.dir, zooKeeperName), ports: e.state.ports}
	started, err := startChild(ctx, z.engine(), e.spawner, e.logger, e.republish)
	if err != nil {
		return err
	}
	e.children = append(e.children, started)
	return nil
}

func (z *zooKeeper) engine() engine {
	return engine{
		name:      zooKeeperName,
		log:       filepath.Join(z.dir, "..", zooKeeperName+".log"),
		command:   z.command,
		repick:    func() error { return z.ports.repick(zooKeeperName) },
		ready:     z.ready,
		interrupt: func(pid int, _ io.Closer) error { return syscall.Kill(pid, syscall.SIGTERM) },
	}
}

func (z *zooKeeper) command() (*exec.Cmd, error) {
	const jar = "/usr/share/java/zookeeper.jar"
	if _, err := os.Stat(jar); err != nil {
		return nil, fmt.Errorf("replicas need ZooKeeper (Debian's package zookeeper): %w", err)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("ZooKeeper needs Java on the PATH: %w", err)
	}
	if err := os.MkdirAll(z.dir, 0o700); err != nil {
		return nil, fmt.Errorf("zookeeper directory: %w", err)
	}
	lines := []string{
		"tickTime=1000", "dataDir=" + z.dir, "clientPort=" + fmt.Sprint(z.ports.of(zooKeeperName)), "clientPortAddress=127.0.0.1",
		"admin.enableServer=false", "4lw.commands.whitelist=ruok", "maxClientCnxns=0", "extendedTypesEnabled=true",
	}
	config := filepath.Join(z.dir, "zoo.cfg")
	if err := writeFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(java, "-Xmx256m", "-cp", jar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	cmd.Dir = z.dir
	cmd.SysProcAttr = childAttributes(syscall.SIGKILL, nil)
	return cmd, nil
}

// ready asks it whether it is well.
func (z *zooKeeper) ready(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address(z.ports.of(zooKeeperName)))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil { // what is asked too early may stay unanswered
		return err
	}
	if _, err := conn.Write([]byte("ruok")); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && string(answer) != "imok" {
		err = errors.New("zookeeper is not well")
	}
	return err
}
