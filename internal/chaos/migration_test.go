package main

import (
	"strings"
	"testing"
	"time"

	"godwit/internal/chaos/walk"
)

func TestTell(t *testing.T) {
	st := jobView{List: []taskView{
		{Attempts: []attemptView{{MovedTo: "b", MovedBytes: 9}, {MovedTo: "c", FromCheckpoint: true},
			{FromCheckpoint: true}}},
		{Attempts: []attemptView{{Outcome: "lost"}, {Outcome: "refused"}, {Outcome: "lost", FromCheckpoint: true}, {}}},
		{Attempts: []attemptView{{}}},
		{},
	}}
	if got, want := tell(st), (telling{handed: 1, moved: 1, resumed: 1, scratch: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Each verdict on tasks that moved can be broken.
func TestMoved(t *testing.T) {
	d := tide{Tide: walk.Tide{Rounds: 1000}, round: time.Millisecond}
	good := func() account {
		return account{tide: d, tasks: 2, stints: map[uint64][]stint{
			0: {{from: 0, to: 500, began: at(0), ended: at(500), seen: at(500)},
				{node: 1, from: 480, to: 1000, began: at(600), ended: at(900), seen: at(900)}},
			1: {{from: 0, to: 1000, began: at(0), ended: at(900), seen: at(900)}},
		}}
	}
	for name, c := range map[string]struct {
		change func(*account)
		broken string
	}{
		"all kept":      {func(*account) {}, ""},
		"one unwatched": {func(a *account) { delete(a.stints, 1) }, "watched"},
		"much lost":     {func(a *account) { a.stints[0][1].from = 300 }, "CPU is lost"},
		"from scratch":  {func(a *account) { a.tasks, a.stints[0][1].from, a.stints[0][0].to = 2, 0, 60 }, "from scratch"},
	} {
		a := good()
		c.change(&a)
		var r report
		r.moved(a)
		var broken []string
		for _, p := range r.Promises {
			if !p.Kept {
				broken = append(broken, p.What)
			}
		}
		if c.broken == "" && len(broken) != 0 || c.broken != "" &&
			(len(broken) != 1 || !strings.Contains(broken[0], c.broken)) {
			t.Errorf("%s: broken %q", name, broken)
		}
	}
}

func TestStillTarget(t *testing.T) {
	const fifty = 50e6 / 8
	for _, c := range []struct {
		mebibytes int
		bandwidth float64
		want      time.Duration
	}{{1, 0, 0}, {64, 0, 60 * time.Millisecond}, {512, 0, 250 * time.Millisecond}, {64, fifty, 522 * time.Millisecond},
		{512, fifty, 2777 * time.Millisecond}} {
		if got := stillTarget(c.mebibytes, c.bandwidth); got.Round(time.Millisecond) != c.want {
			t.Errorf("%d MiB at %.0f B/s: %v, want %v", c.mebibytes, c.bandwidth, got, c.want)
		}
	}
}

// The owners of two nodes give notice in turns, and take it back.
func TestOwnersTakeTurns(t *testing.T) {
	m := mover{trial: &trial{options: options{moving: moving{moves: 2, limit: time.Minute}}}, period: 10 * time.Second,
		from: time.Unix(1000, 0)}
	if got, want := m.owner(1), `# start: 1970-01-01T00:16:00Z
host,start_s,end_s,state
owner,0,50,available
owner,50,55,leaving
owner,55,70,available
owner,70,75,leaving
owner,75,90,available
owner,90,95,leaving
owner,95,110,available
owner,110,115,leaving
owner,115,175,available
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if d := m.notice(1, 0).Sub(m.notice(0, 0)); d != m.period {
		t.Errorf("their notices are %v apart", d)
	}
}
