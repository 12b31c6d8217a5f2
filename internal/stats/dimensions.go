package stats

import "fmt"

// Tag is a name and a value that the caller gave a call.
type Tag struct{ Name, Value string }

// Dimensions narrows calls by what their callers say of them. The zero value is whatever they say. No rollup knows it: skip
// indexes find such calls among the rows.
type Dimensions struct {
	Tags     []Tag    // that the calls have, all of them
	EndUsers []string // one of which they were made for, as it is kept; none: anybody or nobody
}

func (d Dimensions) narrows() bool { return len(d.Tags) > 0 || len(d.EndUsers) > 0 }

func (d Dimensions) conditions() (conditions string) {
	for i := range d.Tags {
		conditions += fmt.Sprintf(" AND has(tags.value, {tagValue%d:String}) AND tags.value[indexOf(tags.name, {tagName%d:String})] = {tagValue%d:String}", i, i, i)
	}
	if len(d.EndUsers) > 0 {
		conditions += " AND end_user IN {endUsers:Array(String)}"
	}
	return conditions
}

func (d Dimensions) parameters() (pairs []any) {
	for i, tag := range d.Tags {
		pairs = append(pairs, fmt.Sprintf("tagName%d", i), tag.Name, fmt.Sprintf("tagValue%d", i), tag.Value)
	}
	if len(d.EndUsers) > 0 {
		pairs = append(pairs, "endUsers", d.EndUsers)
	}
	return pairs
}
