package main

import (
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"
)

// sameFields compares fields of two JSON objects: `same FILE FILE NAME...`.
func sameFields(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: same FILE FILE NAME...")
	}
	var objects [2]map[string]json.RawMessage
	for i := range objects {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[i])), &objects[i]))
	}
	for _, name := range args[2:] {
		if a, b := string(objects[0][name]), string(objects[1][name]); a != b || a == "" {
			ts.Fatalf("%s is %s in %s and %s in %s", name, a, args[0], b, args[1])
		}
	}
}
