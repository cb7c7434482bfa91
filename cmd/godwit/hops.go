package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"godwit/internal/failure"
)

// hopFlags say how `godwit exec` moves the program that it runs.
type hopFlags struct {
	count  int
	seed   uint64
	mean   time.Duration // between two hops
	via    []string
	thaws  uint64 // fuel between two freezes in place
	random *rand.Rand
}

// defaultHopEvery lets a program of some seconds make tens of hops.
const defaultHopEvery = 100 * time.Millisecond

func (h *hopFlags) add(f *pflag.FlagSet) {
	f.IntVar(&h.count, "hops", 0, "freeze the program `N` times, at random times, and go on in a new process each time")
	f.Uint64Var(&h.seed, "hop-seed", 1, "seed of the random times")
	f.DurationVar(&h.mean, "hop-every", defaultHopEvery, "mean `DURATION` for which the program runs between two hops")
	f.StringArrayVar(&h.via, "via", nil,
		"`COMMAND` that starts the next process, like 'qemu-aarch64-static ./godwit-arm64' (repeatable: in turns, this "+
			"program first)")
	f.Uint64Var(&h.thaws, "every", 0, "freeze and thaw the program in place whenever it has used this much `FUEL`")
}

func (h *hopFlags) check() error {
	if h.count < 0 || h.mean <= 0 {
		return failure.Usage("write --hops 20 --hop-every 100ms",
			"--hops %d --hop-every %v: hops cannot be fewer than none, nor the time between them", h.count, h.mean)
	}
	for _, v := range h.via {
		if len(strings.Fields(v)) == 0 {
			return failure.Usage("write --via 'PROGRAM ARGS'", "--via is empty")
		}
	}
	if len(h.via) > 0 && h.count == 0 {
		return failure.Usage("add --hops N", "--via without --hops: the program would stay in this one's process")
	}
	h.random = rand.New(rand.NewPCG(h.seed, 0))
	return nil
}

// engines are the commands of --via, each with the verb of a sandbox process.
func (h *hopFlags) engines() [][]string {
	var out [][]string
	for _, v := range h.via {
		words := strings.Fields(v)
		for i, w := range words {
			words[i] = fromHere(w)
		}
		out = append(out, append(words, sandboxVerb))
	}
	return out
}

// fromHere makes a relative path to a file absolute, since sandbox processes
// have a directory of their own. Other words, like names to be found in PATH
// and flags, stay as they are.
func fromHere(word string) string {
	if filepath.Base(word) == word || filepath.IsAbs(word) {
		return word
	}
	path, err := filepath.Abs(word)
	if err != nil {
		return word
	}
	if _, err := os.Stat(path); err != nil {
		return word
	}
	return path
}
