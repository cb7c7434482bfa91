package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Five seeds in a row have all who lie or err, four at a time, and each seed's crowd is always the same.
func TestCrowds(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(len(crowds)) {
		kinds, err := kindsOf("", 7+seed)
		if err != nil || len(kinds) != 4 {
			t.Fatalf("seed %d: %v, %v", 7+seed, kinds, err)
		}
		for _, k := range kinds {
			seen[k.name]++
		}
	}
	for _, l := range lies {
		if seen[l.name] == 0 && l.name != liesKeep { // which only a submitter that lends a core can be tried with
			t.Errorf("nobody lies like %q by five seeds", l.name)
		}
	}
	for names, want := range map[string]int{"lazy": 1, "bit, engine": 2, "agreed,agreed,leader": 3, "honest": 0, ",": 0,
		"leader,leader": 0, "leader,hoarder": 0} {
		if kinds, err := kindsOf(names, 1); len(kinds) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", names, kinds, err)
		}
	}
}

func TestLinesWith(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if n := linesWith(file, "a"); n != 0 {
		t.Errorf("%d lines where there is no file", n)
	}
	const log = "task outvoted peer=x\ntask outvoted peer=y\ntask done peer=x\n"
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, both := linesWith(file, ""), linesWith(file, "outvoted", "=x"); all != 3 || both != 1 {
		t.Errorf("%d lines, %d with both", all, both)
	}
}
