package scenario

import (
	"os"
	"strings"
	"testing"

	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
)

// The manual of policies lists all there are, as the command's help describes them,
// and no others.
func TestManualOfPolicies(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if usage, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok && strings.HasPrefix(line, "| `") {
			does, _, _ := strings.Cut(rest, " |")
			rows[usage+": "+does] = true
		}
	}
	name := ""
	for _, all := range []string{place.DescribeWith(predictor.Default), share.Describe(), chunk.Describe(),
		migrate.DescribeWith(predictor.Default), predictor.Describe(), sim.DescribeLaws()} {
		for line := range strings.Lines(all) {
			line = strings.TrimSpace(line)
			if defaults, is := strings.CutPrefix(line, "defaults: "); is {
				if want := "| " + name + " | " + defaults + " |"; !strings.Contains(string(text), "\n"+want+"\n") {
					t.Errorf("docs/policies.md lacks the defaults: %s", want)
				}
				continue
			}
			name, _, _ = strings.Cut(line, ":")
			if !rows[line] {
				t.Errorf("docs/policies.md lacks: %s", line)
			}
			delete(rows, line)
		}
	}
	for row := range rows {
		t.Errorf("docs/policies.md has what there is not: %s", row)
	}
}
