package main

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		fail(play(role))
		return
	}
	os.Exit(m.Run())
}

func TestARatioOfMediansTellsHowSureItIs(t *testing.T) {
	var ours, theirs []float64
	for i := range 101 {
		theirs = append(theirs, float64(100+i*37%101))
		ours = append(ours, 2*theirs[i])
	}
	if got := ratioOfMedians(ours, theirs, 1); got != "2.000 (2.000–2.000)" {
		t.Errorf("rounds that all agree: %s", got)
	}
	slices.Reverse(theirs)
	var ratio, least, most float64
	got := ratioOfMedians(ours, theirs, 1)
	if _, err := fmt.Sscanf(got, "%f (%f–%f)", &ratio, &least, &most); err != nil || ratio != 2 || least > 1.95 || least < 1.4 || most < 2.05 || most > 2.8 {
		t.Errorf("rounds that do not: %s, %v", got, err)
	}
}

func TestARatioOfSeveralStartsIsAsSureAsTheseAreAlike(t *testing.T) {
	var ours, theirs []float64
	for start := range 5 {
		for range 200 {
			ours, theirs = append(ours, 100+float64(start)), append(theirs, 100)
		}
	}
	if got := ratioOfMedians(ours, theirs, 1); got != "1.020 (1.020–1.020)" {
		t.Errorf("by rounds: %s", got)
	}
	var ratio, least, most float64
	got := ratioOfMedians(ours, theirs, 5)
	if _, err := fmt.Sscanf(got, "%f (%f–%f)", &ratio, &least, &most); err != nil || ratio != 1.02 || least > 1.01 || least < 1 || most < 1.03 || most > 1.04 {
		t.Errorf("by starts: %s, %v", got, err)
	}
}
