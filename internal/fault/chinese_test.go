package fault

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

func TestEverySentenceOfAFaultHasItsChinese(t *testing.T) {
	told := sentences(t)
	if len(told) < 60 {
		t.Fatalf("only %d sentences were found in the source", len(told))
	}
	for sentence, where := range told {
		if chinese[sentence] == "" {
			t.Errorf("%s: no Chinese for %q", where, sentence)
		}
	}
	for sentence := range chinese {
		if _, still := told[sentence]; !still && !strings.Contains(sentence, "address is not public") { // wrapped errors
			t.Errorf("nobody says %q any more", sentence)
		}
	}
}

// sentences reads every format of a fault, or of a field's message, out of the packages' source.
func sentences(t *testing.T) map[string]token.Position {
	t.Helper()
	told := map[string]token.Position{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"gateway", "embedded", "bench", "webui"}, entry.Name()) {
				return filepath.SkipDir // not told through a fault
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, e := range spoken(n, file.Name.Name) {
				if sentence, ok := literal(e); ok && sentence != "%s" {
					told[sentence] = files.Position(e.Pos())
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// spoken is the expressions of a node that are told to callers.
func spoken(n ast.Node, pkg string) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		return spokenByCall(n, pkg)
	case *ast.CompositeLit:
		name := nameOf(n.Type)
		if name == "fault.Error" || name == "Error" && pkg == "fault" {
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && nameOf(pair.Key) == "Message" {
					return []ast.Expr{pair.Value}
				}
			}
		}
	case *ast.AssignStmt: // fields[name] = "…" for InvalidFields
		if index, ok := n.Lhs[0].(*ast.IndexExpr); ok && nameOf(index.X) == "nulls" {
			return n.Rhs
		}
	}
	return nil
}

func spokenByCall(call *ast.CallExpr, pkg string) []ast.Expr {
	name := nameOf(call.Fun)
	if pkg == "fault" {
		name = strings.Replace("fault."+name, "fault.fault.", "fault.", 1)
	}
	at := map[string]int{"fault.New": 1, "fault.Wrap": 2, "tooMany": 1}
	if pkg == "upstream" { // its errors are messages of a field
		at = map[string]int{"errors.New": 0, "fmt.Errorf": 0}
	}
	if i, ok := at[name]; ok && len(call.Args) > i {
		if sentence, _ := literal(call.Args[i]); pkg == "upstream" && (strings.Contains(sentence, "%w") || sentence == "address is not public") {
			return nil
		}
		return call.Args[i : i+1]
	}
	if strings.HasSuffix(name, ".Add") && len(call.Args) >= 2 {
		return call.Args[1:2]
	}
	if strings.HasSuffix(name, "InvalidFields") && len(call.Args) == 1 {
		fields, ok := call.Args[0].(*ast.CompositeLit)
		if !ok {
			return nil
		}
		var messages []ast.Expr
		for _, element := range fields.Elts {
			message := element.(*ast.KeyValueExpr).Value
			if format, ok := message.(*ast.CallExpr); ok && nameOf(format.Fun) == "fmt.Sprintf" {
				message = format.Args[0]
			}
			messages = append(messages, message)
		}
		return messages
	}
	return nil
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	text, ok := e.(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(text.Value)
	return value, err == nil
}

func TestTranslationsKeepWhatIsPutIn(t *testing.T) {
	for format, translation := range chinese {
		if !strings.ContainsFunc(translation, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%q is not Chinese", translation)
		}
		var args []any
		for i, verb := range verbsOf(format) {
			if !strings.Contains(translation, "{"+strconv.Itoa(i+1)+"}") {
				t.Errorf("%q loses a part of %q", translation, format)
			}
			if verb == 'd' {
				args = append(args, 7000+i)
			} else {
				args = append(args, "part-"+strconv.Itoa(i))
			}
		}
		got := Chinese(fmt.Sprintf(format, args...))
		if strings.ContainsAny(got, "{}") || !strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%q is told as %q", format, got)
		}
		for _, arg := range args {
			if !strings.Contains(got, fmt.Sprint(arg)) {
				t.Errorf("%q lacks %v", got, arg)
			}
		}
	}
}

// verbsOf lists the letters of a format's verbs.
func verbsOf(format string) (verbs []byte) {
	for i := 0; i < len(format)-1; i++ {
		if format[i] == '%' {
			if i++; format[i] != '%' {
				verbs = append(verbs, format[i])
			}
		}
	}
	return verbs
}

func TestWhatHasNoTranslationStaysAsItIs(t *testing.T) {
	for _, sentence := range []string{"", "what nobody ever says", "must have many characters"} {
		if got := Chinese(sentence); got != sentence {
			t.Errorf("%q became %q", sentence, got)
		}
	}
	for sentence, want := range map[string]string{
		`no such capability: "{2}", "a{1}b" and 3 more`:            `能力不存在："{2}", "a{1}b" and 3 more`,
		"must be an integer from 1 to 100":                         "必须是 1 到 100 之间的整数",
		"inside 64:ff9b::7f00:1: 127.0.0.1: address is not public": "64:ff9b::7f00:1 内含的 127.0.0.1：不是公网地址",
		"localhost: address is not public":                         "localhost：不是公网地址",
		"has a % that is not followed by two hexadecimal digits":   "% 后面必须是两位十六进制数字",
		"start must lie between 2025-01-01 and 2026-12-31":         "start 必须在 2025-01-01 与 2026-12-31 之间",
	} {
		if got := Chinese(sentence); got != want {
			t.Errorf("%q became %q, want %q", sentence, got, want)
		}
	}
}
