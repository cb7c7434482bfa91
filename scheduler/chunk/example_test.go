package chunk_test

import (
	"fmt"
	"time"

	"godwit/scheduler/chunk"
)

// A sweep of 1,000 runs is given to a fast and a slow member. The policy hears how long
// chunks took, and gives the fast one more.
func Example() {
	policy, err := chunk.Parse("awf", chunk.Job{Runs: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fast, slow := policy.Join(chunk.Member{Slots: 1}), policy.Join(chunk.Member{Slots: 1})
	now, left := time.Unix(0, 0), int64(1000)
	for _, m := range []struct {
		name string
		node chunk.Node
		run  time.Duration
	}{{"fast", fast, time.Second}, {"slow", slow, 4 * time.Second}, {"fast", fast, time.Second},
		{"slow", slow, 4 * time.Second}} {
		runs, _ := policy.Size(now, m.node, chunk.Ask{Remaining: left})
		left -= int64(runs)
		took := time.Duration(runs) * m.run
		now = now.Add(took)
		policy.Done(now, m.node, runs, took)
		fmt.Printf("%s: %d runs in %v, %d left\n", m.name, runs, took, left)
	}
	// Output:
	// fast: 250 runs in 4m10s, 750 left
	// slow: 188 runs in 12m32s, 562 left
	// fast: 225 runs in 3m45s, 337 left
	// slow: 34 runs in 2m16s, 303 left
}
