package redact

// traits of bytes, as bits.
const (
	letterOrDigit  = 1 << iota
	nameTrait      // stands in a name, those of other scripts too
	quoteTrait     // stands around a name: quotes, backslashes (JSON inside JSON doubles them), spaces
	stopTrait      // ends an unquoted value
	lineTrait      // ends a value that may hold spaces
	spaceTrait     // white space
	begins         // keyAt may recognise something at it: see beginsAt
	escapeTrait    // is escaped in JSON that we write
	keyTrait       // stands in a key
	separatorTrait // makes no difference in a name
)

var traits = func() (table [256]uint16) {
	mark := func(bytes string, trait uint16) {
		for _, c := range []byte(bytes) {
			table[c] |= trait
		}
	}
	for c := range 256 {
		b := byte(c)
		if b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' {
			table[c] |= letterOrDigit | nameTrait | keyTrait
		}
		if b < ' ' || b == '"' || b == '\\' || b == 0x7f {
			table[c] |= escapeTrait
		}
		if b >= 0x80 {
			table[c] |= nameTrait
		}
		if len(prefixesBy[c]) > 0 {
			table[c] |= begins
		}
	}
	mark("_-.", nameTrait)
	mark("_-./+~", keyTrait)
	mark(" \"'\\`", quoteTrait)
	mark(" \t\r\n,;&\"'`\\)}]<>", stopTrait)
	mark("\r\n\"'`\\", lineTrait)
	mark(" \t\n\r", spaceTrait)
	mark("-_. []", separatorTrait)
	mark("-:=,bBe", begins)
	return table
}()

func alnum(c byte) bool { return traits[c]&letterOrDigit != 0 }

func space(c byte) bool { return traits[c]&spaceTrait != 0 }

// nameByte accepts the bytes of a name, those of other scripts too.
func nameByte(c byte) bool { return traits[c]&nameTrait != 0 }
