package stats

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"

	"callgate/internal/beijing"
)

// What past days reported is remembered as their usage is (past_usage.go): most of what tokens cost is reading seventeen
// columns of every day, and six of them tell that nothing came.

// maxPastTokens bounds what is remembered, in bytes. A year of fifty applications that call a dozen capabilities is 4,400
// rows of some 40, and more where prices name models.
const maxPastTokens = 32 << 20

// tokensKey names what applications reported on past days, with these models told apart.
type tokensKey struct {
	pastKey
	named string
}

// reportSums tell whether calls came to a day: every call with an answer is of one of the states.
type reportSums struct{ reported, partial, absent, unreadable, input, output int64 }

// daySums are those of days; of days without calls there is none.
type daySums map[beijing.Day]reportSums

func (d daySums) add(m *ModelTokens) {
	s := d[m.Day]
	s.reported, s.partial, s.absent, s.unreadable = s.reported+m.Reported, s.partial+m.Partial, s.absent+m.Absent, s.unreadable+m.Unreadable
	s.input, s.output = s.input+m.Input.N, s.output+m.Output.N
	if d[m.Day] = s; s == (reportSums{}) {
		delete(d, m.Day)
	}
}

// pastTokens are the rows of past days, packed, and what they add up to.
type pastTokens struct {
	rows  []byte   // each as pack writes it
	names []string // of capabilities and models that answered
	days  daySums
}

func (p *pastTokens) bytes() uint32 {
	const ofName, ofDay = 64, 80
	return uint32(cap(p.rows) + ofName*len(p.names) + ofDay*len(p.days))
}

// tokensCache is an otter.Cache, see cache.
type tokensCache interface {
	GetIfPresent(key tokensKey) (*pastTokens, bool)
	Set(key tokensKey, past *pastTokens) (*pastTokens, bool)
}

func newTokensCache() tokensCache {
	return otter.Must(&otter.Options[tokensKey, *pastTokens]{
		MaximumWeight:    maxPastTokens,
		Weigher:          func(_ tokensKey, past *pastTokens) uint32 { return past.bytes() },
		ExpiryCalculator: otter.ExpiryWriting[tokensKey, *pastTokens](pastTrusted),
	})
}

// pastReportsQuery has the sums of the past in the places that dayTokensQuery has them in; their calls are not counted, but
// one says that they are known.
const pastReportsQuery = `
SELECT toUUID('00000000-0000-0000-0000-000000000000'), toInt32(t.day), '', '',
    toInt64(0), sum(t.input), sum(t.output), toInt64(0), toInt64(0), toInt64(0),
    toInt64(1), toInt64(1), toInt64(0), toInt64(0), toInt64(0),
    sum(t.reported), sum(t.partial), sum(t.absent), sum(t.unreadable), toInt64(0), toInt64(0)
FROM tokens_daily AS t
WHERE t.application_id IN {applications:Array(UUID)} AND t.day BETWEEN {first:Date} AND {last:Date}
GROUP BY t.day`

const todaysReportsQuery = `
SELECT toUUID('00000000-0000-0000-0000-000000000000'), toInt32(t.day),` + namedModel + reportedSums + `
WHERE t.application_id IN {applications:Array(UUID)} AND t.day = {today:Date}
GROUP BY t.day, t.model, named_model`

// tokensOf is DayTokens of days of which those before today are remembered: of these as little is read as tells that they are
// still the same.
func (r *Reader) tokensOf(ctx context.Context, applications []uuid.UUID, before, days beijing.Range, named []string, take func(*ModelTokens)) error {
	key := tokensKey{pastKeyOf(applications, before), strings.Join(named, "\x00")}
	if past, ok := r.past.tokens.GetIfPresent(key); ok {
		if today, same, err := r.tokensSince(ctx, applications, past, before, days.End, named); err != nil {
			return err
		} else if same {
			past.give(take)
			today.give(take)
			return nil
		}
	}
	past := newTokenPacker()
	err := r.modelTokens(ctx, "tokens by day", dayTokensQuery, func(m *ModelTokens) {
		if m.Day <= before.End {
			past.pack(m)
		}
		take(m)
	}, applications, days, named)
	if err == nil {
		past.rows = slices.Clone(past.rows) // it grew by halves
		r.past.tokens.Set(key, past.pastTokens)
	}
	return err
}

// tokensSince reads today, if it is asked for; not same tells that the days before changed.
func (r *Reader) tokensSince(ctx context.Context, applications []uuid.UUID, past *pastTokens, before beijing.Range, end beijing.Day, named []string) (today *pastTokens, same bool, err error) {
	query := pastReportsQuery
	if end > before.End {
		query += " UNION ALL " + todaysReportsQuery
	}
	now, ofToday := daySums{}, newTokenPacker()
	parameters := args("applications", applications, "first", before.Start, "last", before.End, "today", end, "named", named)
	if len(applications) == 1 {
		ctx = inOneThread(ctx)
	}
	err = r.scanTokens(ctx, "tokens since past days", query, parameters, func(m *ModelTokens) {
		if m.Day <= before.End {
			now.add(m)
		} else {
			ofToday.pack(m)
		}
	})
	return ofToday.pastTokens, maps.Equal(past.days, now), err
}

// numbers are those of a row that are packed as they are.
func (m *ModelTokens) numbers() [12]*int64 {
	return [...]*int64{&m.Calls, &m.Input.N, &m.Output.N, &m.Cached.N, &m.CacheWrite.N, &m.Reasoning.N,
		&m.Reported, &m.Partial, &m.Absent, &m.Unreadable, &m.Streamed, &m.StreamedAbsent}
}

func (m *ModelTokens) known() [5]*bool {
	return [...]*bool{&m.Input.Known, &m.Output.Known, &m.Cached.Known, &m.CacheWrite.Known, &m.Reasoning.Known}
}

// give unpacks the rows.
func (p *pastTokens) give(take func(*ModelTokens)) {
	var m ModelTokens
	numbers, known := m.numbers(), m.known()
	rows := p.rows
	next := func() int64 {
		n, length := binary.Varint(rows)
		rows = rows[length:]
		return n
	}
	for len(rows) > 0 {
		m.Day, m.Model, m.UpstreamModel = beijing.Day(next()), p.names[next()], p.names[next()]
		bits := next()
		for i, k := range known {
			*k = bits>>i&1 == 1
		}
		for _, n := range numbers {
			*n = next()
		}
		take(&m)
	}
}

// tokenPacker packs rows while they are read.
type tokenPacker struct {
	*pastTokens
	named map[string]int64 // places in names
}

func newTokenPacker() tokenPacker {
	return tokenPacker{&pastTokens{days: daySums{}}, map[string]int64{}}
}

func (k tokenPacker) pack(m *ModelTokens) {
	k.days.add(m)
	var bits int64
	for i, known := range m.known() {
		if *known {
			bits |= 1 << i
		}
	}
	for _, n := range [...]int64{int64(m.Day), k.name(m.Model), k.name(m.UpstreamModel), bits} {
		k.rows = binary.AppendVarint(k.rows, n)
	}
	for _, n := range m.numbers() {
		k.rows = binary.AppendVarint(k.rows, *n)
	}
}

func (k tokenPacker) name(name string) int64 {
	if _, ok := k.named[name]; !ok {
		k.named[name] = int64(len(k.names))
		k.names = append(k.names, name)
	}
	return k.named[name]
}
