package task_test

import (
	"fmt"

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
	fmt.Println(task.MatchOutput(patterns, "stdout"), task.MatchOutput(patterns, "tile.png"), task.MatchOutput(patterns, "debug.log"))
	// Output:
	// true true false
}
