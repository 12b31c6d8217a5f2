package meter

import "strings"

// node is where a path of the table leads, or passes. The tree of them is made once.
type node struct {
	is     field
	sums   bool // numbers of this place add up in a text
	opens  bool // the object says nothing but what was used
	kinds  bool // the object tells a kind and how many
	of     part
	under  uint8 // wrapper
	member int16 // node of an array's members; 0: none
	number uint8 // of those that open: a bit of its own
	keys   map[string]int16
	hashes uint64 // of keys, a bit for each: most that are met are none of them
}

// nodes begin with the one that leads nowhere and the root.
var nodes = makeTree()

const root = 1

// child is the node of a key, 0 for one that leads nowhere.
func (n *node) child(key []byte) int16 {
	if len(key) == 0 || n.hashes&hash(key) == 0 {
		return 0
	}
	return n.keys[string(key)]
}

func hash(key []byte) uint64 {
	return 1 << ((key[0] + key[len(key)-1]<<2 + uint8(len(key))*5) & 63)
}

func makeTree() []node {
	t := tree{make([]node, root+1, 4096)}
	t.put("", texts)
	for _, path := range usages {
		t.at(path).opens = true
		t.putUsage(path + ".")
	}
	for _, path := range opened {
		t.at(path).opens = true
	}
	for _, other := range others {
		n := t.at(other.path)
		n.of = other.is
		t.putUsage(other.path + ".")
		t.put(other.path+".", named)
	}
	for i := range wrappers[1:] {
		t.mark(t.find(wrappers[i+1].path), uint8(i+1))
	}
	number := uint8(0)
	for i := range t.nodes {
		n := &t.nodes[i]
		for _, to := range n.keys {
			n.kinds = n.kinds || t.nodes[to].is == memberKind
		}
		if n.opens {
			n.number = number
			number++
		}
	}
	return t.nodes
}

// tree is the one that is being made.
type tree struct{ nodes []node }

// putUsage puts what an object of usage has under a path.
func (t *tree) putUsage(path string) {
	t.put(path, usage)
	for _, name := range inputDetails {
		t.put(path+name+".", read)
	}
	for _, name := range outputDetails {
		t.put(path+name+".", wrote)
	}
}

// put puts places under a path.
func (t *tree) put(path string, all []place) {
	for _, p := range all {
		n := t.at(path + p.path)
		n.is = p.is
		n.sums = summed[p.path] || p.is >= memberInput
	}
}

func (t *tree) at(path string) *node { return &t.nodes[t.find(path)] }

// find is the node of a path, made where there is none.
func (t *tree) find(path string) int16 {
	at := int16(root)
	for key := range strings.SplitSeq(path, ".") {
		name, isArray := strings.CutSuffix(key, "[]")
		to := t.nodes[at].keys[name]
		if to == 0 {
			to = t.grow()
			if t.nodes[at].keys == nil {
				t.nodes[at].keys = map[string]int16{}
			}
			t.nodes[at].keys[name] = to
			t.nodes[at].hashes |= hash([]byte(name))
		}
		if at = to; !isArray {
			continue
		}
		if t.nodes[at].member == 0 {
			to = t.grow()
			t.nodes[at].member = to
		}
		at = t.nodes[at].member
	}
	return at
}

func (t *tree) grow() int16 {
	t.nodes = append(t.nodes, node{})
	return int16(len(t.nodes) - 1)
}

// mark notes the wrapper of a node and of all below.
func (t *tree) mark(at int16, under uint8) {
	n := &t.nodes[at]
	n.under = under
	for _, to := range n.keys {
		t.mark(to, under)
	}
	if n.member != 0 {
		t.mark(n.member, under)
	}
}
