package meter

import (
	"bytes"
	"math/bits"
	"strings"
)

// tally are the numbers of one model, by the fields of the table, as far as they were said.
type tally struct {
	said  uint64 // a bit for each field
	value [numbers]uint32
}

func (t *tally) has(f field) bool { return t.said&(1<<f) != 0 }

// set takes what was said last, but no zero for what was more: some repeat what they said with zeros.
func (t *tally) set(f field, v uint32) {
	if v != 0 || !t.has(f) {
		t.value[f] = v
	}
	t.said |= 1 << f
}

// plus adds to what was said, and tells whether it could.
func (t *tally) plus(f field, v uint32) bool {
	if !t.has(f) {
		t.value[f] = 0
	}
	sum := uint64(t.value[f]) + uint64(v)
	if sum > maxCount {
		return false
	}
	t.said |= 1 << f
	t.value[f] = uint32(sum)
	return true
}

// each calls for each number that was said.
func (t *tally) each(call func(f field, v uint32)) {
	for said := t.said; said != 0; said &= said - 1 {
		f := field(bits.TrailingZeros64(said))
		call(f, t.value[f])
	}
}

// later takes what a later text says.
func (t *tally) later(of *tally) { of.each(t.set) }

// add adds what was used at another time, and tells whether it could.
func (t *tally) add(of *tally) bool {
	all := true
	of.each(func(f field, v uint32) { all = t.plus(f, v) && all })
	return all
}

// partial is what one object says of another model's use, or of another time's.
type partial struct {
	of   part
	kind string // of an iteration
	name string // of the model
	tally
}

// maxParts bounds what an answer tells of parts: a hundred iterations are more than any has.
const maxParts = 100

// names are texts that are kept, by the fields from model to currency. The first one that is told of the model and the id
// counts, the last of the others.
type names [currency + 1 - model]string

func (t *names) get(f field) string { return t[f-model] }

// set keeps a text that is not empty, or OtherModel for one that is too long.
func (t *names) set(f field, text []byte) {
	to := &t[f-model]
	switch isTold := *to != ""; {
	case len(text) == 0, *to == string(text), isTold && (f == model || f == answerID):
	case isTold && (f == cost || f == costTicks) && !bytes.ContainsAny(text, "123456789"): // no zero replaces a number
	case len(text) <= maxName:
		*to = printable(text)
	case f != answerID:
		*to = OtherModel
	}
}

// answer is what the texts of an answer have said so far.
type answer struct {
	form form

	whole      tally     // of all texts
	parts      []partial // of the last text that told any; none is kept of most answers
	before     *tally    // of interactions that ended before the one that whole is of; nil: none did
	hop        string    // the interaction that whole is of
	names      names
	isChat     bool
	isMarked   bool // by Perplexity
	begun      bool // the last that was told is what was used by then
	unreadable bool
	hasDelta   bool // an event of the stream that brought a piece of the answer was read

	// Of the text being read.
	told      tally
	toldParts []partial
	opened    uint64 // a bit for each object that says what was used, and one for numbers outside of them
	via       uint8  // the wrapper of what it told
	types     uint16 // a bit for each wrapper that is one in a text of its type
	bad       bool   // a number of it is none
	wrapped   names
	hasNames  bool
	namesVia  uint8 // the wrapper of what is wrapped

	// Of the part being read, and of the member of an array.
	part        *partial
	partDepth   uint8
	memberKind  string
	memberField field
	memberCount uint32
}

// reset makes ready for the next answer. The bytes of names stay as they are: a call would pay for each of their cache
// lines.
func (a *answer) reset() {
	a.form = anywhere
	a.whole.said, a.before, a.hop, a.parts, a.names = 0, nil, "", nil, names{}
	a.isChat, a.isMarked, a.begun, a.unreadable, a.hasDelta = false, false, false, false, false
	a.textBegins()
}

func (a *answer) textBegins() {
	a.forget()
	a.opened, a.part, a.types = 0, nil, 0
	if a.hasNames {
		a.wrapped, a.hasNames = names{}, false
	}
}

// forget drops what the text has told.
func (a *answer) forget() { a.told.said, a.toldParts, a.bad = 0, nil, false }

// outside is the bit of numbers that stand in no object of their own.
const outside = 1 << 63

// tells notes that something is told by way of a wrapper, and tells whether it counts: what the text says itself counts
// before what it wraps, and of two things that it wraps the last.
func (a *answer) tells(via uint8, bit uint64) bool {
	if a.opened != 0 && a.via != via {
		if a.via == itself {
			return false
		}
		a.forget()
		a.opened = 0
	}
	a.via = via
	a.opened |= bit
	return true
}

// opens takes the beginning of an object, which will be at a depth, and tells whether to look into it.
func (a *answer) opens(n *node, depth uint8) bool {
	if n == &nodes[root] {
		a.textBegins()
		return true
	}
	if n.opens || n.of != whole {
		bit := uint64(outside)
		if n.opens {
			bit = 1 << n.number
			if a.opened&bit != 0 && a.via == n.under {
				a.forget() // of two objects of one name the last counts
			}
		}
		if !a.tells(n.under, bit) {
			return false
		}
	}
	switch {
	case n.of != whole && a.part == nil:
		a.part, a.partDepth = &partial{of: n.of}, depth
	case n.is == chat:
		a.isChat = true
	}
	if n.kinds {
		a.memberKind, a.memberField = "", nothing
	}
	return true
}

// closes takes the end of an object.
func (a *answer) closes(n *node, depth uint8) {
	if a.memberField != nothing && n.kinds {
		if is, known := members[a.memberField][strings.ToLower(a.memberKind)]; known {
			a.say(is, a.memberCount, true)
		}
		a.memberField = nothing
	}
	if a.part != nil && a.partDepth == depth {
		a.toldParts = appendPart(a.toldParts, a.part)
		a.part = nil
	}
}

// appendPart adds a part. What one object tells once counts once.
func appendPart(to []partial, p *partial) []partial {
	for i := range to {
		if to[i].of == p.of && (p.of == imageTool || p.of == drawing) {
			to[i] = *p
			return to
		}
	}
	if len(to) < maxParts {
		to = append(to, *p)
	}
	return to
}

func (n *node) isNumber() bool {
	return n.is > nothing && n.is < numbers || n.is == cost || n.is == costTicks || n.is >= memberInput
}

func (n *node) isName() bool {
	return n.is >= model && n.is <= fallbackModel || n.is == currency || n.is == partKind || n.is == perplexity || n.is == memberKind
}

// strict tells whether the place is for tokens: what else stands there cannot be read.
func (n *node) strict() bool { return n.is >= prompt && n.is <= billedOutput }

// mistaken notes that a value which is no number stands where a number belongs.
func (a *answer) mistaken(n *node) {
	if n.strict() && a.tells(n.under, outside) {
		a.bad = true
	}
}

// number takes a number at its place.
func (a *answer) number(n *node, text []byte) {
	if n.is == cost || n.is == costTicks {
		if len(text) > 0 && text[0] != '-' {
			a.name(n, text)
		}
		return
	}
	var v uint32
	var ok bool
	if n.is == seconds || n.is == audioSeconds {
		v, ok = thousandths(text, 1000)
	} else {
		v, ok = count(text)
	}
	switch {
	case !a.tells(n.under, outside):
	case n.is >= memberInput:
		if ok {
			a.memberField, a.memberCount = n.is, v
		}
	case ok:
		a.say(n.is, v, n.sums)
	case n.strict():
		a.bad = true
	}
}

// say takes a number of the part that is being read, or of the text itself.
func (a *answer) say(f field, v uint32, sums bool) {
	to := &a.told
	if a.part != nil {
		to = &a.part.tally
	}
	if !sums {
		to.set(f, v)
	} else if !to.plus(f, v) {
		a.bad = true
	}
}

// name takes a text at its place.
func (a *answer) name(n *node, text []byte) {
	switch {
	case n.is == memberKind:
		a.memberKind = string(text)
	case n.is == perplexity:
		a.isMarked = true
	case n.is == partKind:
		a.part.kind = printable(text)
	case a.part != nil:
		if n.is == model {
			a.part.name = printable(text)
		}
	case n.is == eventType:
		a.types = wrappersIn(text)
	case n.under == itself:
		a.names.set(n.is, text)
	default:
		if a.hasNames && a.namesVia != n.under {
			a.wrapped = names{}
		}
		a.wrapped.set(n.is, text)
		a.hasNames, a.namesVia = true, n.under
	}
}

// counts tells whether a text of this type, in this form, wraps what counts so.
func (a *answer) counts(via uint8) bool {
	w := &wrappers[via]
	return (w.in == anywhere || w.in == a.form) && (len(w.when) == 0 || a.types>>via&1 == 1)
}

// wrappersIn are those of a type of texts.
func wrappersIn(kind []byte) (types uint16) {
	for i := range wrappers {
		for _, when := range wrappers[i].when {
			if begins, open := strings.CutSuffix(when, "*"); string(kind) == when || open && len(kind) > len(begins) && string(kind[:len(begins)]) == begins {
				types |= 1 << i
			}
		}
	}
	return types
}

// textEnds takes over what a text says.
func (a *answer) textEnds() {
	if a.opened != 0 && a.counts(a.via) {
		if hop := a.wrapped.get(answerID); a.via == ofInteraction && a.told.said != 0 && hop != "" {
			if a.hop != "" && a.hop != hop {
				if a.before == nil {
					a.before = new(tally)
				}
				a.unreadable = !a.before.add(&a.whole) || a.unreadable
				a.whole.said = 0
			}
			a.hop = hop
		}
		a.tellIterations()
		a.whole.later(&a.told)
		if a.toldParts != nil {
			a.parts = a.toldParts
		}
		a.begun = a.via == ofMessage
		a.unreadable = a.unreadable || a.bad
	}
	if a.hasNames && a.counts(a.namesVia) {
		if a.wrapped.get(fallbackModel) != "" {
			a.whole.said = 0 // what was told by then is of an attempt that was declined, and is not charged
		}
		for f := model; f <= currency; f++ {
			a.names.set(f, []byte(a.wrapped.get(f)))
		}
	}
	a.textBegins()
}

// tellIterations brings together what Anthropic tells of a whole message and of the times that it asked a model for it.
// The whole leaves out compactions. Where another model went on, it is that model's; attempts that were declined are not
// charged. An adviser stays a part.
func (a *answer) tellIterations() {
	var compacted, all tally
	served := ""
	has, isServed, fits := false, false, true
	rest := a.toldParts[:0]
	for i := range a.toldParts {
		p := &a.toldParts[i]
		switch {
		case p.of != iteration || p.kind == "advisor_message":
			rest = append(rest, *p)
			continue
		case p.kind == "compaction":
			fits = compacted.add(&p.tally) && fits
		case p.kind == "fallback_message":
			served, isServed = p.name, true
		}
		has, fits = true, all.add(&p.tally) && fits
	}
	if a.toldParts = rest; !has {
		return
	}
	if isServed {
		a.names.set(fallbackModel, []byte(served))
		a.whole.said = 0 // of the attempt that was declined
		fits = a.told.add(&compacted) && fits
	} else {
		all.each(func(f field, v uint32) { a.told.set(f, max(v, a.told.value[f]*uint32(a.told.said>>f&1))) })
	}
	a.bad = a.bad || !fits
}

// textBreaks takes the end of an event whose text was not whole: what it told of use cannot be read.
func (a *answer) textBreaks() {
	a.unreadable = a.unreadable || a.opened != 0 && a.counts(a.via)
	a.textBegins()
}
