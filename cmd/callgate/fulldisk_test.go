package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// mount changes a gateway's command so that it mounts a tmpfs for its spool first, in a mount
// namespace of its own, which ends with it. Without the right to do so it takes a user namespace too.
func (n *node) mount(cmd *exec.Cmd) {
	script := fmt.Sprintf(`mount -t tmpfs -o size=%d callgate-test %s && exec "$0" "$@"`, n.disk, n.spool)
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", script}, cmd.Args...)
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// spoolDir is where this process sees the gateway's spool.
func (n *node) spoolDir() string {
	if n.disk > 0 {
		return fmt.Sprintf("/proc/%d/root%s", n.cmd.Process.Pid, n.spool)
	}
	return n.spool
}

// walkFiles hands over every file below a directory; one that vanishes meanwhile is left out.
func walkFiles(dir string, each func(os.FileInfo)) error {
	return filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err == nil {
			each(info)
		}
		return nil
	})
}
