package main

import (
	"io"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]options{
		"":                        {scenario: "processes", minutes: 3, nodes: 7, tasks: 500},
		"split --seed 3":          {scenario: "split", seed: 3, minutes: 3, nodes: 7, tasks: 500},
		"--minutes 0.5 --nodes 9": {scenario: "processes", minutes: .5, nodes: 9, tasks: 500},
		"hostile --rows s1,S3": {scenario: "hostile", minutes: 3, nodes: 7, tasks: 500,
			attacked: attacked{rows: "s1,S3"}},
		"liars --verify full": {scenario: "liars", minutes: 3, nodes: 12, tasks: 300, wasm: true,
			lied: lied{verify: "full"}},
		"nat --routers cone,symm":       {scenario: "nat", minutes: 3, nodes: 7, tasks: 500, routers: "cone,symm"},
		"many --seed 5":                 {scenario: "many", seed: 5, minutes: 3, nodes: 300, tasks: 3000},
		"replicas --seed 2":             {scenario: "replicas", seed: 2, minutes: 3, nodes: 8, tasks: 12},
		"disk --tasks 60 --wasm --json": {scenario: "disk", minutes: 3, nodes: 7, tasks: 60, wasm: true, json: true},
	} {
		got, err := parse(words(line), io.Discard)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if got.seed == 0 {
			t.Errorf("%q: no seed was drawn", line)
		}
		if want.seed == 0 {
			want.seed = got.seed
		}
		want.godwit, want.split, want.delay, want.loss = "godwit", time.Minute, 80*time.Millisecond, .01
		want.lied.lends = true
		if want.lied.verify == "" {
			want.lied.verify = "1e-3"
		}
		want.moving, want.times, want.strangers, want.runs = got.moving, 100, 16, 100
		if got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
	for _, line := range []string{"mayhem", "split disk", "--nodes 6", "--nodes 1000", "--tasks 0", "--minutes 0",
		"--minutes NaN",
		"--split 0s", "--delay -1s", "--loss 1", "--loss NaN", "--seed x", "--unknown",
		"migration --nodes 3", "migration --work 0s", "migration --owners -1s", "moves --moves 0", "moves --sizes 1,x",
		"moves --sizes 5000",
		"slowmoves --rate -1", "moves --leave never", "hostile --rows S1,S99", "hostile --times 0",
		"hostile --strangers 0", "liars --kinds honest", "nat --routers cone,fence",
		"dht --nodes 9"} {
		if o, err := parse(words(line), io.Discard); err == nil {
			t.Errorf("%q was taken: %+v", line, o)
		}
	}
}
