package clickhouse

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// A migration names each table and view once, as a single server has them. On a cluster a node has the tables
// and what fills them in its shard's database, where its statements run as they stand but for the engine, and
// the views of data teams in the other, over Distributed tables.
var (
	statement  = regexp.MustCompile(`(?s)-- \+goose StatementBegin\n(.*?)-- \+goose StatementEnd\n`)
	aboutViews = regexp.MustCompile(`^(CREATE (OR REPLACE )?VIEW|ALTER TABLE live_)`)
	engine     = regexp.MustCompile(`(?m)^ENGINE = (\w*MergeTree)$`)
)

// replicated is the engine of a table of which every replica of a shard has a copy. The server's macros tell
// where in Keeper they meet.
const replicated = `ENGINE = Replicated$1('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')`

// forShard are the migrations of a shard's database.
func forShard(withKeeper bool) (fs.FS, error) {
	return rendered(func(sql string) (string, bool) {
		if withKeeper {
			sql = engine.ReplaceAllString(sql, replicated)
		}
		return sql, !aboutViews.MatchString(sql)
	})
}

// forViews are the migrations of the views over Distributed tables. What is looked up in a table of several
// shards is collected from all of them first (GLOBAL): a shard by itself would look among its own rows alone.
func forViews() (fs.FS, error) {
	return rendered(func(sql string) (string, bool) {
		return globally(sql), aboutViews.MatchString(sql)
	})
}

func globally(sql string) string {
	return strings.ReplaceAll(sql, " NOT IN (SELECT", " GLOBAL NOT IN (SELECT")
}

// rendered are all migrations with the statements that change keeps.
func rendered(change func(sql string) (changed string, keep bool)) (fs.FS, error) {
	names, err := fs.Glob(Migrations, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("clickhouse migrations: %w", err)
	}
	files := rewritten{texts: map[string]string{}}
	for _, name := range names {
		text, err := fs.ReadFile(Migrations, name)
		if err != nil {
			return nil, fmt.Errorf("clickhouse migrations: %w", err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		var b strings.Builder
		b.WriteString("-- +goose NO TRANSACTION\n-- +goose Up\n")
		kept := 0
		for _, found := range statement.FindAllStringSubmatch(up, -1) {
			if sql, keep := change(found[1]); keep {
				fmt.Fprintf(&b, "-- +goose StatementBegin\n%s-- +goose StatementEnd\n", sql)
				kept++
			}
		}
		if kept == 0 {
			b.WriteString("SELECT 1;\n")
		}
		files.texts[name] = b.String()
	}
	return files, nil
}

// rewritten are the migrations' files with other texts.
type rewritten struct{ texts map[string]string }

func (r rewritten) Open(name string) (fs.File, error) {
	file, err := Migrations.Open(name)
	text, changed := r.texts[name]
	if err != nil || !changed {
		return file, err
	}
	return &textFile{file, strings.NewReader(text)}, nil
}

type textFile struct {
	fs.File
	*strings.Reader
}

func (t *textFile) Read(p []byte) (int, error) { return t.Reader.Read(p) }
