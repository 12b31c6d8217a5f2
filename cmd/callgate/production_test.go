package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// engineParts are what only the embedded engines need: our own package, and modules.
var engineParts = []string{"callgate/internal/embedded", "github.com/ebitengine/purego", "github.com/alicebob/miniredis"}

// TestTheBinaryOfTheImageHasNothingOfTheEmbeddedEngines builds what deploy/Dockerfile builds and looks
// for them in it: a binary that can become another program at a word of its environment is a weapon.
func TestTheBinaryOfTheImageHasNothingOfTheEmbeddedEngines(t *testing.T) {
	dockerfile, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	built := regexp.MustCompile(`go build .*-tags (\S+) .*\./cmd/callgate`).FindSubmatch(dockerfile)
	if built == nil {
		t.Fatal("deploy/Dockerfile does not build ./cmd/callgate with tags")
	}
	tags := slices.DeleteFunc(strings.Split(string(built[1]), ","), func(tag string) bool { return tag == "webui" }) // needs built pages
	run := func(environment string, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", environment)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(name string, args ...string) string {
		t.Helper()
		out, err := run("", name, args...)
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return out
	}
	production := filepath.Join(t.TempDir(), "callgate")
	must("go", "build", "-tags", strings.Join(tags, ","), "-o", production, ".")
	for what, found := range map[string]string{
		"packages": must("go", "list", "-deps", "-tags", strings.Join(tags, ","), "."),
		"modules":  must("go", "version", "-m", production),
		"symbols":  must("go", "tool", "nm", production),
	} {
		for _, part := range engineParts {
			if strings.Contains(found, part) {
				t.Errorf("%s of %s are in the binary of the image", what, part)
			}
		}
	}
	if raw, err := os.ReadFile(production); err != nil || strings.Contains(string(raw), "CALLGATE_EMBEDDED_ROLE") {
		t.Errorf("the binary knows the variable of the engines' helpers (%v)", err)
	}
	for _, role := range []string{"host", "clickhouse", "x"} {
		if out, err := run("CALLGATE_EMBEDDED_ROLE="+role, production, "version"); err != nil || out != "dev\n" {
			t.Errorf("with CALLGATE_EMBEDDED_ROLE=%s it does %q, %v", role, out, err)
		}
	}
	if out, err := run("", production, "dev"); err == nil || !strings.Contains(out, "make build") {
		t.Errorf("dev says %q, %v", out, err)
	}
	if kept := must("go", "version", "-m", binary); !strings.Contains(kept, engineParts[1]) {
		t.Error("the engines cannot be found where they are: this test sees nothing")
	}
}
