package meter

import (
	"bytes"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// line brings what was said of one model to the meters. It reports false where that is no count of what one call used.
func (a *answer) line(t *tally) (m Meters, ok bool) {
	if t.has(billedInput) || t.has(billedImage) || t.has(billedOutput) { // Cohere: what else it tells is what the model processed, not what is charged
		t = &tally{said: t.said & (1<<billedInput | 1<<billedImage | 1<<billedOutput | 1<<searchUnits | 1<<images | 1<<pages), value: t.value}
	}
	var in, out amount
	in.first(t, prompt, input, billedInput)
	in.plus(t, toolUse)
	in.plus(t, billedImage)
	out.first(t, output, billedOutput)
	read, wrote := max(t.get(cached), t.get(cacheRead)), max(t.get(written), t.get(cacheCreation), t.get(written5m)+t.get(written30m)+t.get(written1h)+t.get(written12h))
	isBeside := t.has(cacheRead) || t.has(cacheCreation)
	if isBeside && t.get(prompt) == 0 && !t.has(cached) && !t.has(written) || isBeside && t.totalIs(in.n+out.n+read+wrote) || read+wrote > in.n {
		in.add(read + wrote)
	}
	out.plus(t, thoughts)
	thought := max(t.get(reasoning), t.get(reasoningFlat))
	switch rest := t.get(total) - in.n; {
	case thought > out.n && thought <= rest && rest < out.n+thought: // inside all the same: some count it apart, and more of it than of all
		out.add(thought - out.n)
	case thought > out.n || t.totalIs(in.n+out.n+thought) || t.get(reasoningFlat) > 0 && a.isPerplexity(t):
		out.add(thought)
	}
	if more := t.get(total) - in.n - out.n; t.has(total) && more > 0 {
		switch {
		case t.has(audioSeconds): // Mistral has what it listened to nowhere else
			m.part(InputAudio, more)
			in.add(more)
		case a.isChat || t.get(output) > 0 && !t.has(audioIn):
			out.add(more)
		default:
			in.add(more)
		}
	}
	if max(in.n, out.n) > maxCount {
		return m, false
	}
	in.tell(&m, Input)
	out.tell(&m, Output)
	for _, one := range [...]struct {
		is  Meter
		n   int64
		has bool
	}{
		{CachedInput, read, t.has(cached) || t.has(cacheRead)}, {CacheWrite, wrote, t.has(written) || t.has(cacheCreation) || wrote > 0},
		{Reasoning, max(thought, t.get(thoughts)), t.has(reasoning) || t.has(reasoningFlat) || t.has(thoughts)},
	} {
		if one.has {
			m.Set(one.is, uint32(one.n))
		}
	}
	for _, one := range units {
		if n := t.get(one.of); n > 0 {
			m.part(one.is, n)
		}
	}
	return m, true
}

// units are the meters that stand as they were said, unless they are 0.
var units = []struct {
	of field
	is Meter
}{
	{written5m, CacheWrite5m}, {written30m, CacheWrite30m}, {written1h, CacheWrite1h}, {written12h, CacheWrite12h},
	{audioIn, InputAudio}, {imageIn, InputImage}, {billedImage, InputImage}, {videoIn, InputVideo}, {audioOut, OutputAudio}, {imageOut, OutputImage},
	{searchUnits, SearchUnits}, {webSearches, WebSearches}, {searchQueries, WebSearches}, {toolCalls, ToolCalls}, {images, Images},
	{pages, Pages}, {characters, Characters}, {seconds, Milliseconds}, {audioSeconds, Milliseconds},
}

// part sets a number that is no more than the one it is part of.
func (m *Meters) part(is Meter, n int64) {
	if is >= InputAudio && is <= OutputImage {
		from := Input
		if is >= OutputAudio {
			from = Output
		}
		if all, known := m.Count(from); known {
			n = min(n, int64(all))
		}
	}
	m.Set(is, uint32(n))
}

// get is a number, 0 where it was not said.
func (t *tally) get(f field) int64 {
	if !t.has(f) {
		return 0
	}
	return int64(t.value[f])
}

// totalIs tells whether the total was said to be n, and that is more than its parts.
func (t *tally) totalIs(n int64) bool {
	return t.has(total) && t.get(total) == n && n > max(t.get(prompt), t.get(input))+t.get(output)+t.get(toolUse)+t.get(thoughts)
}

func (a *answer) isPerplexity(t *tally) bool {
	return a.isMarked || t.has(searchQueries) || t.has(citations)
}

// amount is a number that may be unknown.
type amount struct {
	n    int64
	said bool
}

// first takes the first of some that is not 0.
func (v *amount) first(t *tally, of ...field) {
	for _, f := range of {
		if v.n == 0 {
			v.plus(t, f)
		}
	}
}

func (v *amount) plus(t *tally, f field) {
	if t.has(f) {
		v.n, v.said = v.n+t.get(f), true
	}
}

func (v *amount) add(n int64) { v.n, v.said = v.n+n, v.said || n > 0 }

func (v *amount) tell(m *Meters, is Meter) {
	if v.said {
		m.Set(is, uint32(v.n))
	}
}

// report is what the texts have said. It leaves the state to the reader, but for numbers that cannot be read.
func (a *answer) report(r *Report) (readable bool) {
	readable = (a.before == nil || a.whole.add(a.before)) && !a.unreadable
	first := Line{Model: a.names.get(model), Tier: a.names.get(tier)}
	if served := a.names.get(fallbackModel); served != "" {
		first.Model = served
	}
	if fast := a.names.get(speed); fast == "fast" {
		first.Tier = fast
	}
	var ok bool
	first.Meters, ok = a.line(&a.whole)
	readable = readable && ok
	all := &Meters{}
	lines := []Line{first}
	for i := range a.parts {
		p := &a.parts[i]
		if p.of == drawingItem && slices.ContainsFunc(a.parts, func(other partial) bool { return other.of == drawing }) {
			continue // all of them stand beside usage
		}
		next := Line{Model: p.name, Tier: first.Tier}
		if p.of == imageTool && next.Model == "" {
			next.Model = a.names.get(imageModel)
		}
		next.Meters, ok = a.line(&p.tally)
		readable = readable && ok
		if next.total() > 0 {
			lines, ok = addLine(lines, next)
			readable = readable && ok
		}
	}
	if first.IsZero() && len(lines) > 1 { // Ark's bots tell of their models alone
		lines = lines[1:]
	}
	for i := range lines {
		readable = all.Add(&lines[i].Meters) && readable
	}
	if !readable {
		lines = []Line{{Model: first.Model, Tier: first.Tier}}
	}
	if len(lines) > 1 || !lines[0].IsZero() || lines[0].Model != "" || lines[0].Tier != "" {
		r.Lines = lines
	}
	r.AnswerID = a.names.get(answerID)
	if readable {
		r.ReportedCost, r.Currency = a.cost()
	}
	return readable
}

// addLine adds what another model used to the lines behind the first.
func addLine(lines []Line, l Line) ([]Line, bool) {
	for i := range lines[1:] {
		if to := &lines[i+1]; to.Model == l.Model {
			return lines, to.Add(&l.Meters)
		}
	}
	if len(lines) < maxLines {
		return append(lines, l), true
	}
	last := &lines[maxLines-1]
	last.Model = OtherModel
	return lines, last.Add(&l.Meters)
}

// total is all that is known.
func (m *Meters) total() (sum uint64) {
	for _, n := range m.counts {
		sum += uint64(n)
	}
	return sum
}

// maxCost bounds what a provider can say that one answer costs, in any currency.
const maxCost = 1_000_000_000

// costDigits are kept behind the point of a cost.
const costDigits = 20

// cost is what the provider says that it charges.
func (a *answer) cost() (amount, in string) {
	said, per := a.names.get(cost), int64(1)
	if len(said) == 0 {
		said, per = a.names.get(costTicks), 1e10
	}
	if len(said) == 0 {
		return "", ""
	}
	about, err := strconv.ParseFloat(said, 64)
	exact, ok := new(big.Rat).SetString(said)
	if err != nil || !ok || about/float64(per) > maxCost {
		return "", ""
	}
	in = "USD"
	if c := strings.ToUpper(a.names.get(currency)); len(c) == 3 {
		in = c
	}
	text := exact.Quo(exact, big.NewRat(per, 1)).FloatString(costDigits)
	return strings.TrimRight(strings.TrimRight(text, "0"), "."), in
}

// isRepeated tells whether the answer to a request at a path is one that was given before: it is that of what the path
// names, or tells what a cancelled call used by then.
func (a *answer) isRepeated(path []byte) bool {
	if endsWithAny(path, cancels) || bytes.Contains(path, kept) {
		return true
	}
	id := a.names.get(answerID)
	if id == "" {
		return false
	}
	for segment := range bytes.SplitSeq(path, []byte("/")) {
		if bytes.IndexByte(segment, '%') >= 0 {
			if text, err := url.PathUnescape(string(segment)); err == nil {
				segment = []byte(text)
			}
		}
		if string(segment) == id {
			return true
		}
	}
	return false
}

// isUnfinished tells whether what was asked for is still to be done.
func (a *answer) isUnfinished() bool { return unfinished[strings.ToLower(a.names.get(status))] }

func endsWithAny(path []byte, ends []string) bool {
	for _, end := range ends {
		if bytes.HasSuffix(path, []byte(end)) {
			return true
		}
	}
	return false
}

// countNothing leaves the model of an answer alone.
func (r *Report) countNothing() {
	r.ReportedCost, r.Currency = "", ""
	if len(r.Lines) > 0 {
		r.Lines = r.Lines[:1]
		r.Lines[0].Meters = Meters{}
	}
}
