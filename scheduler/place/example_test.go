package place_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
)

// stays says how likely members are to stay for an hour.
type stays map[task.PeerID]float64

func (s stays) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	p, known := s[peer]
	return p, known
}

// waiting is tasks in order.
type waiting []place.Task

func (w *waiting) Next() (place.Task, bool) {
	if len(*w) == 0 {
		return place.Task{}, false
	}
	t := (*w)[0]
	*w = (*w)[1:]
	return t, true
}

func (w *waiting) SkipJob() { *w = nil }

// Two tasks of an hour wait, and three members have room. FCFSPP with a threshold of
// 70 % passes by the member that is likely to leave first.
func Example() {
	policy, err := place.Parse("fcfspp:t=0.7")
	if err != nil {
		fmt.Println(err)
		return
	}
	queue := &waiting{}
	for index := range uint64(2) {
		*queue = append(*queue, place.Task{ID: task.TaskID{Index: index}, Work: time.Hour})
	}
	hosts := []place.Host{{Peer: "ann", Slots: 1, Free: 1}, {Peer: "bob", Slots: 1, Free: 1},
		{Peer: "eve", Slots: 1, Free: 1}}
	forecast := stays{"ann": 0.4, "bob": 0.7, "eve": 0.95}

	for _, p := range policy.Place(time.Unix(0, 0), queue, hosts, forecast, rand.New(rand.NewPCG(1, 1))) {
		fmt.Printf("task %d to %s: %s\n", p.Task.Index, p.Peer, p.Reason)
	}
	// Output:
	// task 0 to bob: next in order; the next in turn that stays for 1h0m0s with probability 0.7, and 0.7 is asked for
	// task 1 to eve: next in order; the next in turn that stays for 1h0m0s with probability 0.95, and 0.7 is asked for
}
