package migrate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"godwit/migrate"
	"godwit/task"
)

// leaves says which members are not likely to stay.
type leaves map[task.PeerID]bool

func (l leaves) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	if l[peer] {
		return 0.25, true
	}
	return 1, true
}

// PSPP looks at each member that runs tasks and moves those of members that are not
// certain to stay until the next scan (docs/spec/zhang.md section 5.2).
func Example() {
	policy, err := migrate.Parse("pspp:n=6,p=10m")
	if err != nil {
		fmt.Println(err)
		return
	}
	hosts := []migrate.Host{
		{Peer: "ann", Tasks: []task.TaskID{{Index: 1}}, CPU: 100},
		{Peer: "bob", Tasks: []task.TaskID{{Index: 2}, {Index: 3}}, CPU: 100},
	}
	predictions := policy.Scan(time.Unix(0, 0), hosts, leaves{"bob": true}, rand.New(rand.NewPCG(1, 1)))
	for _, m := range migrate.Moves(hosts, predictions) {
		fmt.Printf("task %d leaves %s: %s\n", m.Task.Index, m.From, m.Why())
	}
	// Output:
	// task 2 leaves bob: it stays for 10m0s with probability 0.25, under 1
	// task 3 leaves bob: it stays for 10m0s with probability 0.25, under 1
}

// The interval between two checkpoints is Young's on the life that is left: short where
// a host is likely to go, long where it stays (docs/spec/predictors.md section 4).
func ExampleInterval() {
	const pause, transfer = time.Second, time.Second
	for _, hourly := range []float64{0.5, 0.99} {
		stay := func(d time.Duration) float64 { return math.Pow(hourly, d.Hours()) }
		fmt.Printf("stays an hour with %g: save each %v\n", hourly,
			migrate.Interval(6*time.Hour, pause, transfer, stay).Round(time.Second))
	}
	// Output:
	// stays an hour with 0.5: save each 1m44s
	// stays an hour with 0.99: save each 14m24s
}
