package openapi

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestThePageShowsEveryOperationAndLetsItBeTried(t *testing.T) {
	page := string(Page())
	for _, op := range Operations(Tree()) {
		opening := fmt.Sprintf(`id="%s" data-method="%s" data-path="%s"`, op.ID, op.Method, op.Path)
		_, shown, found := strings.Cut(page, opening)
		if !found {
			t.Errorf("%s is missing", op.ID)
			continue
		}
		shown, _, _ = strings.Cut(shown, `class="operation"`)
		if !strings.Contains(shown, "<button") || op.Body != nil && !strings.Contains(shown, "<textarea") {
			t.Errorf("%s cannot be tried", op.ID)
		}
		for _, p := range op.Parameters {
			if !strings.Contains(shown, fmt.Sprintf(`data-name="%s"`, p["name"])) {
				t.Errorf("%s has no field for %s", op.ID, p["name"])
			}
		}
		for status := range object(op.Node["responses"]) {
			if !strings.Contains(shown, "<b>"+status+"</b>") {
				t.Errorf("%s does not show %s", op.ID, status)
			}
		}
	}
}

// The content security policy of the page allows neither, and nothing of another site.
func TestThePageNeedsNoInlineScriptsAndNoOtherSites(t *testing.T) {
	page := Page()
	for _, forbidden := range []string{`(?i)<script(?:>| [^>]*>[^<])`, `(?i)<style`, `(?i) style=`, `(?i) on\w+=`, `(?i)(?:src|href)="(?:https?:)?//`, `(?i)javascript:`} {
		if found := regexp.MustCompile(forbidden).Find(page); found != nil {
			t.Errorf("found %s", found)
		}
	}
	for _, asset := range []string{"docs.css", "docs.js"} {
		content, err := Assets.ReadFile(asset)
		if err != nil || !bytes.Contains(page, []byte(`"/docs/`+asset+`"`)) || bytes.Contains(content, []byte("//cdn")) {
			t.Errorf("%s: %v", asset, err)
		}
	}
}

func TestEveryLinkOfThePageLeadsSomewhere(t *testing.T) {
	page := string(Page())
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+link[1]+`"`) {
			t.Errorf("#%s leads nowhere", link[1])
		}
	}
	if strings.Contains(page, "$ref") && strings.Contains(page, "#/components/") {
		t.Error("a reference is no link")
	}
}

func TestDescriptionsAreShownAsText(t *testing.T) {
	got := string(prose("A **bold** `<b>`\n\n| a | b |\n|---|---|\n| 1 | <script> |"))
	want := `<p>A <strong>bold</strong> <code>&lt;b&gt;</code></p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;script&gt;</td></tr></table>`
	if got != want {
		t.Fatalf("got %s", got)
	}
}
