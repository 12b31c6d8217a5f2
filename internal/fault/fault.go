// Package fault is the error every package returns when a caller is to be told something: a kind, a
// sentence safe to publish, and the cause for the log. Packages name no HTTP status; console maps
// kinds to statuses in one place.
package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Kind says what sort of fault it is; openapi.yaml lists the code of each.
type Kind uint8

// The kinds, in the order of their codes in openapi.yaml.
const (
	Internal         Kind = iota // 50001, also every error that is no fault
	Invalid                      // 40001, a parameter or body is invalid
	InvalidDate                  // 40002
	InvalidRange                 // 40003, end before start or more than 366 days
	Unauthenticated              // 40101, no credential
	BadCredential                // 40102, invalid or expired credential
	NotAdministrator             // 40301
	NotPermitted                 // 40302, beyond the access of a management token
	NotFound                     // 40401, absent or somebody else's: same answer
	NoFailureDetail              // 40402, the call succeeded
	Conflict                     // 40901
	Changed                      // 40902, by somebody else since it was read
	MethodNotAllowed             // 40501
	TooLarge                     // 41301
	WrongHost                    // 42101, callgate dev under a name that is not its own
	TooManyAttempts              // 42901
	Unavailable                  // 50301, a store cannot be reached
)

// Error is a fault. Message and Fields may be shown to anybody; Cause goes to the log only.
type Error struct {
	Kind       Kind
	Message    string
	Fields     map[string]string // field name -> message, for Invalid
	RetryAfter time.Duration     // for TooManyAttempts and Unavailable
	Cause      error
}

// New returns a fault with a public sentence.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns a fault with a public sentence and the cause for the log.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// InvalidFields returns an Invalid fault that names every wrong field.
func InvalidFields(fields map[string]string) *Error {
	return &Error{Kind: Invalid, Message: "some fields are invalid", Fields: fields}
}

// Absent is the one answer for an object that does not exist and for somebody else's.
func Absent() *Error { return New(NotFound, "no such object") }

// Error is for logs: it includes the fields and the cause.
func (e *Error) Error() string {
	text := e.Message
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		text += fmt.Sprintf("; %s: %s", field, e.Fields[field])
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of err's fault, or Internal when it carries none.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}
