package application

import (
	"slices"
	"testing"

	"callgate/internal/fault"
)

// TestAListOfNetworksIsNotReadBeyondItsBound: what is wrong with it is its length, and nothing in it is looked at.
func TestAListOfNetworksIsNotReadBeyondItsBound(t *testing.T) {
	wrong := fault.Fields{}
	if networks := networksOf(slices.Repeat([]string{"nowhere"}, maxCIDRs+1), wrong); networks != nil || len(wrong) != 1 {
		t.Errorf("%v, %v", networks, wrong)
	}
	for field, says := range wrong {
		if field != "allowedCidrs" || says != "must be at most 50" {
			t.Errorf("%s %s", field, says)
		}
	}
}
