package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link       = regexp.MustCompile(`(?:\]\(|src=")([^)":\s]+)[)"]`) // no URLs: they have a colon
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	codeFences = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchorsOf are those that GitHub gives the headings of a page.
func anchorsOf(page string) map[string]bool {
	anchors := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(codeFences.ReplaceAllString(page, ""), -1) {
		anchors[strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return anchors
}

// documents are the repository's Markdown files, by their path in it.
func documents(t *testing.T) map[string]string {
	t.Helper()
	list, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	return pages
}

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	pages := documents(t)
	links := 0
	for name, text := range pages {
		for _, l := range link.FindAllStringSubmatch(codeFences.ReplaceAllString(text, ""), -1) {
			links++
			file, anchor, _ := strings.Cut(l[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, l[1])
			} else if anchor != "" && !anchorsOf(pages[target])[anchor] {
				t.Errorf("%s leads to %s, a heading that is not there", name, l[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links are understood", links)
	}
}

func TestEveryPageForOperatorsIsInTheirTableOfContents(t *testing.T) {
	pages := documents(t)
	for name := range pages {
		if page, ok := strings.CutPrefix(name, "deploy/docs/"); ok && !strings.Contains(pages["deploy/README.md"], "(docs/"+page+")") {
			t.Errorf("deploy/README.md does not lead to %s", name)
		}
	}
}

func TestREADMENamesEveryPackage(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	packages, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if p.IsDir() && !strings.Contains(string(readme), "\n  "+p.Name()+"/ ") {
			t.Errorf("internal/%s is not in the README's layout", p.Name())
		}
	}
}
