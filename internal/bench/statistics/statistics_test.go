package main

import (
	"testing"
)

func TestTheLawGivesTheLargestApplicationItsShare(t *testing.T) {
	law := shares(5_000)
	total := 0.0
	for i, share := range law {
		total += share
		if i > 0 && share >= law[i-1] {
			t.Fatalf("rank %d has no less than rank %d", i+1, i)
		}
	}
	if law[0] < 0.1999 || law[0] > 0.2001 || total < 0.9999 || total > 1.0001 {
		t.Errorf("the first of %d has %f of %f", len(law), law[0], total)
	}
}
