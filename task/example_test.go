package task_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// A job file says where it is wrong, and what to do about it.
func ExampleParseFile() {
	_, err := task.ParseFile("job.yaml", []byte("module: render.wasm\nmemroy: 1GiB\n"))
	fmt.Println("error:", err)
	fmt.Println("hint:", err.(*task.Error).Hint)
	// Output:
	// error: job.yaml:2:1: unknown key "memroy"
	// hint: did you mean "memory"?
}

// Points of a sweep are computed from their index; decimals are exact.
func ExampleSweep_Point() {
	f, err := task.ParseFile("job.yaml", []byte(`
module: render.wasm
sweep:
  angle: {from: 0, to: 0.3, step: 0.1}
  quality: [low, high]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Sweep.Count(), f.Sweep.Point(0), f.Sweep.Point(7))
	// Output:
	// 8 [{angle 0} {quality low} {trial 0}] [{angle 0.3} {quality high} {trial 0}]
}

func ExampleMatchOutput() {
	patterns := []string{"stdout", "*.png"}
	fmt.Println(task.MatchOutput(patterns, "stdout"), task.MatchOutput(patterns, "tile.png"),
		task.MatchOutput(patterns, "debug.log"))
	// Output:
	// true true false
}

// A job goes from its owner's file to a signed record that any peer can open.
func Example() {
	f, err := task.ParseFile("job.yaml", []byte(`
module: render.wasm
args: [--angle, "{{.angle}}"]
outputs: ["*.png"]
sweep:
  angle: {from: 0, to: 90, step: 30}
memory: 64MiB
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	module := task.RawCID([]byte("\x00asm\x01\x00\x00\x00")) // as it was stored
	nonce := make([]byte, task.NonceSize)                    // random, in life
	job, err := f.Job(module, nil, "commons", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), nonce)
	if err != nil {
		fmt.Println(err)
		return
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	record, err := task.SignJob(job, key)
	if err != nil {
		fmt.Println(err)
		return
	}
	opened, err := record.Open() // which checks the signature and every bound
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(opened.Name, "has", opened.Sweep.Count(), "tasks")
	run, err := opened.Expand(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Args, task.FormatSize(opened.Memory))
	record.Job[len(record.Job)-1] ^= 1
	_, err = record.Open()
	fmt.Println(errors.Is(err, task.ErrSignature))
	// Output:
	// render has 4 tasks
	// [--angle 60] 64MiB
	// true
}
