package fault

import "time"

// Unchanged holds the precondition of an edit ("Preconditions" in openapi.yaml): seen is the updatedAt that
// its editor has read, in the milliseconds that are told; without one nothing is demanded. It must be
// asked while the object's row is locked by the transaction that writes, or two editors could both
// win. The fault is Changed.
func Unchanged(updatedAt time.Time, seen ...time.Time) error {
	for _, at := range seen {
		if !updatedAt.Truncate(time.Millisecond).Equal(at) {
			return New(Changed, "somebody else has changed this since it was read")
		}
	}
	return nil
}
