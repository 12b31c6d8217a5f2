package openapi

import "encoding/json"

// Clearable is a text that an edit may set, clear with null or leave out.
type Clearable struct {
	Given bool
	Text  string // empty: cleared
}

// UnmarshalJSON takes a string or null.
func (c *Clearable) UnmarshalJSON(text []byte) error {
	*c = Clearable{Given: true}
	return json.Unmarshal(text, &c.Text) // null leaves it as it is
}

// Value is what the edit sets, empty to clear it, or nil where it was left out.
func (c Clearable) Value() *string {
	if !c.Given {
		return nil
	}
	return &c.Text
}
