package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestEveryVariableIsDocumentedOnceWithItsDefault holds the operators' page against the struct.
func TestEveryVariableIsDocumentedOnceWithItsDefault(t *testing.T) {
	const file = "../../deploy/docs/variables.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| [a-z, ]+ \\| (?:`(.+?)` )?\\| .+ \\|$").FindAllStringSubmatch(string(page), -1) {
		if _, twice := documented[row[1]]; twice {
			t.Errorf("%s stands on the page twice", row[1])
		}
		documented[row[1]] = row[2]
	}
	if rows := strings.Count(string(page), "\n| `"); rows != len(documented) {
		t.Errorf("%d rows, %d are understood", rows, len(documented))
	}
	want := map[string]string{"CLICKHOUSE_READER_PASSWORD": ""} // read by LoadMigration alone
	for field := range reflect.TypeFor[Config]().Fields() {
		if name := field.Tag.Get("env"); name != "-" {
			want[name] = field.Tag.Get("envDefault")
		}
	}
	for name, value := range want {
		if told, ok := documented[name]; !ok {
			t.Errorf("%s is not in %s", name, file)
		} else if told != value {
			t.Errorf("%s has the default %q, the page says %q", name, value, told)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("%s is on the page, and nothing reads it", name)
	}
}
