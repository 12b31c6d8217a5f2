package calls

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tag is a name and a value that the caller gave a call, to find it by and to sum by.
type Tag struct{ Name, Value string }

// What a call has of tags at most, and how long these and an end user's id may be, in characters.
const (
	MaxTags     = 5
	MaxTagName  = 32
	MaxTagValue = 64
	MaxEndUser  = 128
)

// ReadTags reads "name=value, name=value". What is no tag is left out: a name that is not of a-z, 0-9, "_" and "-" or is there
// already, a value that is empty, too long or has characters that nobody sees, and whatever there is beyond MaxTags. The tags are
// in the order of their names.
func ReadTags(list string) (tags []Tag, ignored int) {
	for text := range strings.SplitSeq(list, ",") {
		name, value, given := strings.Cut(text, "=")
		tag := Tag{strings.TrimSpace(name), strings.TrimSpace(value)}
		switch {
		case strings.TrimSpace(text) == "":
		case !given || !IsTagName(tag.Name) || !isVisible(tag.Value, MaxTagValue) || len(tags) == MaxTags ||
			slices.ContainsFunc(tags, func(t Tag) bool { return t.Name == tag.Name }):
			ignored++
		default:
			tags = append(tags, tag)
		}
	}
	slices.SortFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Name, b.Name) })
	return tags, ignored
}

// IsTagName tells whether a text may be the name of a tag.
func IsTagName(name string) bool {
	return name != "" && len(name) <= MaxTagName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// IsTagValue tells whether a text may be the value of a tag.
func IsTagValue(value string) bool { return isVisible(value, MaxTagValue) }

// IsEndUser tells whether a text may be the id of an end user.
func IsEndUser(id string) bool { return isVisible(id, MaxEndUser) }

// isVisible tells whether a text is of 1 to most characters that a reader sees, with spaces only inside.
func isVisible(text string, most int) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && strings.TrimSpace(text) == text &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
