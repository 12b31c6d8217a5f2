package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"callgate/internal/boot"
)

// typed runs a command line that needs no store, and returns what it printed.
func typed(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var printed bytes.Buffer
	c := root()
	c.SetArgs(args)
	c.SetOut(&printed)
	c.SetErr(&printed)
	err = c.ExecuteContext(t.Context())
	return printed.String(), err
}

func TestEveryCommandHelpsAndCompletes(t *testing.T) {
	commands := []string{""}
	var add func(path string, of *cobra.Command)
	add = func(path string, of *cobra.Command) {
		for _, c := range of.Commands() {
			commands = append(commands, path+c.Name())
			add(path+c.Name()+" ", c)
		}
	}
	add("", root())
	if len(commands) < 10 {
		t.Fatalf("commands: %q", commands)
	}
	for _, command := range commands {
		help, err := typed(t, append(strings.Fields(command), "--help")...)
		if err != nil || !strings.Contains(help, "Usage:") {
			t.Errorf("callgate %s --help: %v\n%s", command, err, help)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script, err := typed(t, "completion", shell); err != nil || !strings.Contains(script, "callgate") {
			t.Errorf("completion %s: %v, %d bytes", shell, err, len(script))
		}
	}
	for line, want := range map[string]string{"serve --role ": "gateway\n", "spools ": "retire\t", "ver": "verify\t"} {
		args := strings.Split(line, " ")
		if offered, err := typed(t, append([]string{"__complete"}, args...)...); err != nil || !strings.Contains(offered, want) {
			t.Errorf("%q is completed with %q, %v", line, offered, err)
		}
	}
}

func TestAWrongCommandLineSaysWhatToDo(t *testing.T) {
	for line, want := range map[string]string{
		"":                     "a command is missing",
		"serv":                 "serve",
		"serve --rol gateway":  `"callgate serve --help" lists the flags`,
		"serve now":            `unknown command "now"`,
		"spools retire":        "accepts 1 arg(s)",
		"spools retire nobody": `"callgate spools" lists them`,
	} {
		if _, err := typed(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("callgate %s: %v, want %q in it", line, err, want)
		}
	}
}

func TestTheVersionIsALineOfItsOwn(t *testing.T) {
	for _, line := range []string{"version", "--version"} {
		if out, err := typed(t, line); err != nil || out != boot.Version+"\n" {
			t.Errorf("callgate %s: %q, %v", line, out, err)
		}
	}
}
