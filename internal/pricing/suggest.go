package pricing

import (
	"cmp"
	"context"
	_ "embed" // the catalogue
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// catalogueText is what a public catalogue of prices knew when it was pinned: internal/webui/app/build/prices.mjs.
//
//go:embed catalogue.json
var catalogueText []byte

// maxSuggestions is how many prices are suggested at most.
const maxSuggestions = 20

// Source says where suggestions come from.
type Source struct {
	Package string
	Version string
	License string
	Notice  string // the licence's text
}

// Suggestion is a public price that may fit; nothing is made of it unless an administrator enters it.
type Suggestion struct {
	Provider   string
	Model      string       // as the catalogue names it
	Exact      bool         // the name is the model's; else the model's is how it begins
	FromBand   int64        // it is for calls of more input tokens
	From       *beijing.Day // the day it counts from; nil: not told
	Currency   string
	Input      string // decimals, as a Draft takes them
	Cached     *string
	CacheWrite *string
	Output     string
	Amounts    map[string]string // of other meters
	Notes      []string          // what it leaves out: tiered, hourly, rounded, other_units, per_request, standard_tier
}

type catalogue struct {
	Source    Source
	Providers []provider
}

type provider struct {
	ID, Name string
	URL      string // a regular expression of its base URLs
	Maker    bool   // of models, rather than a reseller
	Models   []model

	url *regexp.Regexp
}

type model struct {
	ID     string
	Names  []string // other ones; one that ends in * is a beginning
	Prices []struct {
		Band               int64
		From               *beijing.Day
		Input, Output      string
		Cached, CacheWrite *string
		Amounts            map[string]string
		Notes              []string
	}
}

// known reads the catalogue when it is first asked for.
var known = sync.OnceValue(func() (c catalogue) {
	if err := json.Unmarshal(catalogueText, &c); err != nil {
		panic(fmt.Sprintf("catalogue.json: %v", err)) // part of the program, read by every test
	}
	for i, p := range c.Providers {
		c.Providers[i].url = regexp.MustCompile("^(?:" + p.URL + ")")
	}
	return c
})

// Suggest gives public prices for a capability: of the model named, or, for "", of the capability's upstream
// model. Those of the provider whose base URL is the capability's come first, then those of whoever makes the
// model, exact names before beginnings and long ones before short. An unknown capability is Invalid.
func (s *Store) Suggest(ctx context.Context, capability, upstreamModel string) ([]Suggestion, Source, error) {
	wrong := fault.Fields{}
	wrong.Text("capability", capability, 1, maxIdentifier)
	wrong.Text("upstreamModel", upstreamModel, 0, maxModel)
	if err := wrong.Err(); err != nil {
		return nil, Source{}, err
	}
	var name, baseURL string
	err := s.pool.QueryRow(ctx, `SELECT coalesce(nullif($2, ''), nullif(upstream_model, ''), id),
		       coalesce((SELECT u.base_url FROM capability_upstreams m JOIN upstreams u ON u.id = m.upstream_id
		                 WHERE m.capability_id = capabilities.id ORDER BY m.priority, m.weight DESC, u.id LIMIT 1), upstream_base_url)
		FROM capabilities WHERE id = $1`, capability, upstreamModel).Scan(&name, &baseURL)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, Source{}, fault.InvalidFields(map[string]string{"capability": "no such capability"})
	case err != nil:
		return nil, Source{}, fmt.Errorf("suggest prices: %w", err)
	}
	return known().suggest(name, baseURL), known().Source, nil
}

// found is a model of the catalogue that fits.
type found struct {
	*provider
	*model
	home  bool // its provider is the upstream
	match int  // how long the name is that fits; maxInt: exactly
}

const exactly = int(^uint(0) >> 1)

func (c catalogue) suggest(name, baseURL string) (suggestions []Suggestion) {
	var fitting []found
	for i := range c.Providers {
		p := &c.Providers[i]
		home := p.url.MatchString(baseURL)
		for j := range p.Models {
			if match := p.Models[j].match(name); match > 0 {
				fitting = append(fitting, found{p, &p.Models[j], home, match})
			}
		}
	}
	slices.SortStableFunc(fitting, func(a, b found) int {
		return cmp.Or(first(a.home, b.home), first(a.match == exactly, b.match == exactly), first(a.Maker, b.Maker), cmp.Compare(b.match, a.match))
	})
	for _, f := range fitting {
		for _, p := range f.Prices {
			if len(suggestions) == maxSuggestions {
				return suggestions
			}
			suggestions = append(suggestions, Suggestion{
				Provider: f.Name, Model: f.model.ID, Exact: f.match == exactly, FromBand: p.Band, From: p.From, Currency: "USD",
				Input: p.Input, Cached: p.Cached, CacheWrite: p.CacheWrite, Output: p.Output, Amounts: p.Amounts, Notes: p.Notes,
			})
		}
	}
	return suggestions
}

// first orders what has something before what has not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// match tells how much of a name is the model's: exactly for all of it, 0 for nothing.
func (m *model) match(name string) int {
	best := fits(name, m.ID)
	for _, other := range m.Names {
		best = max(best, fits(name, other))
	}
	return best
}

// fits compares in any case, with and without what a reseller puts before the model's own name. A beginning
// counts where a word of the name ends, so that gpt-5 is no gpt-5x.
func fits(name, other string) int {
	name = strings.ToLower(name)
	stem, open := strings.CutSuffix(strings.ToLower(other), "*")
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !strings.Contains(stem, "/") {
		name = name[i+1:]
	}
	rest, begins := strings.CutPrefix(name, stem)
	switch {
	case !begins:
		return 0
	case rest == "":
		return exactly
	case open || strings.ContainsRune("-:@.", rune(rest[0])):
		return len(stem)
	}
	return 0
}
