package view

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler"
	"godwit/task"
)

func TestPrintScheduling(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	s := scheduler.Scheduling{
		Leader: "12D3KooWaaaaaaaaone", Epoch: 7, At: at, Placement: "lpas", Fairness: scheduler.ByPlacement,
		Chunking: "paced", Migration: "none",
		Waiting: 3, Running: 1,
		Classes: []scheduler.ClassStatus{{Class: "x", Waiting: 3, Oldest: 2.5, Arrival: 0.5, Arrivals: 4, Work: 90},
			{Running: 1, Arrivals: 1}},
		Members: []scheduler.MemberStatus{
			{Peer: "12D3KooWaaaaaaaaone", There: true, Slots: 2, Load: 1, IdleFor: 0.5, Share: 1, Running: map[string]int{"": 1},
				Rates: []scheduler.RateStatus{{Class: "x", Rate: 0.25, Measured: 3}, {Rate: 1}}},
			{Peer: "12D3KooWaaaaaaaatwo", Rates: []scheduler.RateStatus{{Class: "x"}, {Rate: 2, Measured: 10}}},
		},
		MoreMembers: 2,
		Allocation: &scheduler.AllocationView{
			Solved: at, Why: "it was the first time", Lambda: 2, Load: 0.5, Class: []string{"x"},
			Peers: []task.PeerID{"12D3KooWaaaaaaaaone", "12D3KooWaaaaaaaatwo"}, Share: [][]float64{{1.5, 0}},
		},
	}
	var b strings.Builder
	Scheduling(&b, &s)
	const want = `led by aaaaaone, epoch 7, at 12:00:00
placement lpas, fairness by placement, chunking paced, migration none
3 waiting, 1 with members

CLASS   WAITING  RUNNING  OLDEST  ARRIVING/s  ARRIVALS  WORK
x       3        0        2.5s    0.5         4         1m30s
(none)  0        1        -       -           1         -

MEMBER    SLOTS  LOAD  IDLE   SHARE  RUNS      x/s   (none)/s
aaaaaone  2      1     500ms  100%   (none):1  0.25  1?
aaaaatwo  0      0     away   0%     -         -?    2
... and 2 members more
rates: tasks a second of one slot; with ? not measured there, but guessed by other members

allocation, solved at 12:00:00 because it was the first time
  lambda* 2, ideal load 50.0%; processors by class and member:
CLASS  aaaaaone  aaaaatwo
x      1.500     .
`
	if b.String() != want {
		t.Errorf("printed\n%s", b.String())
	}
}
