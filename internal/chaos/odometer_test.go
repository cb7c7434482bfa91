package main

import (
	"encoding/binary"
	"testing"
	"time"
)

// testRate is a guest's of these tests: one round a millisecond.
const testRate = 1000

// A course is what a test's processes show, looked at each millisecond.
type course struct {
	*odometer
	now int // ms
}

func newCourse() *course { return &course{odometer: newOdometer(testRate)} }

// runs has a process show so many rounds more, one in a millisecond, from some on.
func (c *course) runs(node, process int, from, rounds uint64) {
	for r := range rounds + 1 {
		c.saw(at(c.now), node, process, 0, from+r)
		c.now++
	}
}

// shows has it show the same for so long.
func (c *course) shows(node, process int, rounds uint64, ms int) {
	for range ms {
		c.saw(at(c.now), node, process, 0, rounds)
		c.now++
	}
}

func TestHandOverIsOnePassage(t *testing.T) {
	c := newCourse()
	c.runs(0, 10, 0, 1000)
	// Memory goes while the guest runs: the other process shows it in leaps.
	for r := uint64(1000); r <= 1300; r++ {
		c.saw(at(c.now), 1, 20, 0, r/100*100-50)
		c.runs(0, 10, r, 0)
	}
	c.shows(1, 20, 1250, 40) // frozen
	c.shows(1, 20, 1300, 5)  // the last pages have come
	c.gone(10)
	c.runs(1, 20, 1300, 700)
	list := c.Of(0)
	if len(list) != 2 || list[0].from != 1 || list[0].to != 1300 || list[1].from != 1301 || list[1].to != 2000 {
		t.Fatalf("the stints are %+v", list)
	}
	p := passages(list, nil)
	if len(p) != 1 || p[0].from != 0 || p[0].to != 1 || p[0].repeated != 0 || p[0].struck {
		t.Fatalf("the passages are %+v", p)
	}
	if want := 47 * time.Millisecond; p[0].still != want { // 40, 5, and the first round
		t.Errorf("it stood still for %v, want %v", p[0].still, want)
	}
	if killed, other := again(list, nil); killed+other != 0 {
		t.Errorf("%d rounds were run again", killed+other)
	}
}

func TestWorkDoneAgain(t *testing.T) {
	c := newCourse()
	c.runs(0, 10, 0, 500) // killed
	kill := []strike{{node: 0, at: at(c.now)}}
	c.gone(10)
	c.now += 1000
	c.runs(1, 20, 400, 300) // from a checkpoint: 100 again
	c.gone(20)
	c.now += 1000
	c.runs(2, 30, 0, 1000) // from scratch: 700 again
	list := c.Of(0)
	if killed, other := again(list, kill); killed != 99 || other != 699 {
		t.Errorf("again after kills %d, otherwise %d, want 99 and 699: %+v", killed, other, list)
	}
	if killed, other := again(list, nil); killed != 0 || other != 798 {
		t.Errorf("again after kills %d, otherwise %d, want 0 and 798", killed, other)
	}
	if scratch, excess := unexplained(list, 1000, kill); scratch != 1 || excess != 0 {
		t.Errorf("%d from scratch, %d beyond the kills, want 1 and 0: the kill explains it", scratch, excess)
	}
	if scratch, excess := unexplained(list, 1000, nil); scratch != 1 || excess != 1 {
		t.Errorf("%d from scratch, %d beyond the kills, want 1 and 1", scratch, excess)
	}
	p := passages(list, kill)
	if len(p) != 2 || !p[0].struck || p[1].struck || p[0].repeated != 99 || p[1].repeated != 699 {
		t.Errorf("the passages are %+v", p)
	}
}

// A warm process may come to the same task twice, and stand still on the way.
func TestStints(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(*course)
		stint []stint // from and to
	}{
		"nothing runs":       {func(c *course) { c.shows(0, 10, 0, 50) }, nil},
		"loaded and not run": {func(c *course) { c.shows(0, 10, 0, 5); c.shows(0, 10, 900, 50) }, nil},
		"loaded, and looked at late": {func(c *course) {
			c.shows(0, 10, 0, 5)
			c.shows(0, 10, 900, 5) // a round of the hand-over
			c.now += 25            // the next is seen late: 60 rounds in 26 ms are no leap
			c.shows(0, 10, 960, 40)
			c.shows(0, 10, 1200, 5) // the last
			c.runs(0, 10, 1200, 100)
		}, []stint{{from: 1201, to: 1300}}},
		"loaded, looked at late, and given up": {func(c *course) {
			c.shows(0, 10, 0, 5)
			c.now += 25
			c.shows(0, 10, 60,
				50)
		}, nil},
		"owner in between": {func(c *course) {
			c.runs(0, 10, 0, 100)
			c.shows(0, 10, 100,
				400)
			c.runs(0, 10, 100, 100)
		}, []stint{{from: 1, to: 200}}},
		"the same process again": {func(c *course) { c.runs(0, 10, 0, 100); c.gone(10); c.runs(0, 10, 150, 100) },
			[]stint{{from: 1, to: 100}, {from: 151, to: 250}}},
		"back to before": {func(c *course) { c.runs(0, 10, 0, 100); c.runs(0, 10, 50, 100) },
			[]stint{{from: 1, to: 100}, {from: 51, to: 150}}},
	} {
		k := newCourse()
		c.play(k)
		got := k.Of(0)
		if len(got) != len(c.stint) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, want := range c.stint {
			if got[i].from != want.from || got[i].to != want.to {
				t.Errorf("%s: stint %d is from %d to %d, want %d to %d", name, i, got[i].from, got[i].to, want.from, want.to)
			}
		}
	}
}

// Two that run the same at the same time lose what both run, and pass nothing on.
func TestTwoAtOnce(t *testing.T) {
	list := []stint{
		{node: 0, from: 0, to: 500, began: at(0), ended: at(500), seen: at(500)},
		{node: 1, from: 400, to: 450, began: at(450), ended: at(480), seen: at(480)},
	}
	if _, other := again(list, nil); other != 50 {
		t.Errorf("%d rounds again, want 50", other)
	}
	if p := passages(list, nil); len(p) != 0 {
		t.Errorf("passages %+v", p)
	}
}

func TestStruck(t *testing.T) {
	s := stint{node: 1, began: at(100), ended: at(300), seen: at(900)}
	for name, c := range map[string]struct {
		k    strike
		want bool
	}{
		"another node":            {strike{0, at(900)}, false},
		"before it began":         {strike{1, at(50)}, false},
		"while it stood still":    {strike{1, at(901)}, true},
		"long after it had ended": {strike{1, at(2000)}, false},
	} {
		if got := s.struck([]strike{c.k}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestReadShown(t *testing.T) {
	b := binary.LittleEndian.AppendUint64(append([]byte(nil), mark...), 7)
	b = binary.LittleEndian.AppendUint64(b, 99)
	if task, rounds, ok := readShown(b); !ok || task != 7 || rounds != 99 {
		t.Errorf("task %d, rounds %d, %t", task, rounds, ok)
	}
	b[0]++
	if _, _, ok := readShown(b); ok {
		t.Error("another mark was taken for ours")
	}
	if _, _, ok := readShown(mark); ok {
		t.Error("a mark without anything behind it was read")
	}
}

// The longest that a guest stands still at a node, within a time.
func TestStillest(t *testing.T) {
	o, at := newOdometer(1000), time.Unix(0, 0)
	saw := func(ms int, node int, rounds uint64) {
		o.saw(at.Add(time.Duration(ms)*time.Millisecond), node, node, 0, rounds)
	}
	for i, ms := range []int{0, 1, 9, 10, 30, 31} { // still for 8 ms, and 20
		saw(ms, 1, uint64(i))
	}
	saw(500, 2, 7)
	saw(900, 2, 8)
	for _, c := range []struct {
		node, to int
		want     time.Duration
	}{{1, 1000, 20 * time.Millisecond}, {1, 29, 8 * time.Millisecond}, {2, 1000, 400 * time.Millisecond}, {3, 1000, 0}} {
		if got := o.Stillest(0, c.node, at, at.Add(time.Duration(c.to)*time.Millisecond)); got != c.want {
			t.Errorf("node %d until %d ms: %v, want %v", c.node, c.to, got, c.want)
		}
	}
}
