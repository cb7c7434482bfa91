package learning

import (
	"fmt"
	"math"
	"testing"
	"time"

	"godwit/task"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func anybody(task.PeerID) bool { return true }

// What is expected of a member is its own measure, else that of the class on the reference
// core, else what jobs tell, else its speed alone.
func TestExpected(t *testing.T) {
	r := New(&Known{Of: map[string]map[task.PeerID]float64{"x": {"fast": 4, "never": 0}}}, anybody)
	x, y := r.Get("x"), r.Class("y")
	check := func(k *Class, peer task.PeerID, speed, want float64, known bool) {
		t.Helper()
		if got, is := k.Expected(peer, speed); math.Abs(got-want) > 1e-9 || is != known {
			t.Errorf("%s takes %v s, known: %v; want %v, %v", peer, got, is, want, known)
		}
	}
	check(nil, "a", 2, .5, false)
	check(x, "fast", 2, .25, true)
	check(y, "a", 0, 1, false)
	r.Arrived(y, start, 1, 8*time.Second)
	check(y, "a", 2, 4, true)
	r.Ended(y, "b", 2, 3*time.Second, 8*time.Second)
	check(y, "b", 2, 3, true)
	check(y, "a", 2, 3, true) // six seconds on the reference core
	if !x.Never("never") || x.Never("fast") || y.Never("a") {
		t.Error("who cannot do what is not as it was said")
	}
	r.Ended(x, "never", 1, time.Second, 0)
	if x.Never("never") || x.Measured("never") != 1 {
		t.Errorf("it did it after all, measured %d times", x.Measured("never"))
	}
	if y.Scale(16*time.Second) != 2 || y.Scale(0) != 1 || x.Scale(time.Hour) != 1 {
		t.Error("the scale of a task is not its work by the mean")
	}
}

// A rate comes to how fast tasks come, and falls while none do.
func TestArrivals(t *testing.T) {
	r := New(&Known{Arrivals: map[string]float64{"told": 5}}, anybody)
	if rate, _ := r.Get("told").Arrivals(start); math.Abs(rate-5) > 1e-9 {
		t.Errorf("5/s were told, the rate is %v", rate)
	}
	k := r.Class("x")
	now := start
	for range 500 {
		r.Arrived(k, now, 3, 0)
		now = now.Add(time.Second)
	}
	if rate, jobs := k.Arrivals(now); math.Abs(rate-3) > .1 || jobs != 500 {
		t.Errorf("3/s came, the rate is %v after %d jobs", rate, jobs)
	}
	if rate, _ := k.Arrivals(now.Add(time.Hour)); rate > .1 {
		t.Errorf("nothing came for an hour, and the rate is %v", rate)
	}
}

// Classes and members are bounded, whatever submitters and members name; who looks at rates is
// told whenever twice as much is known, and at once of a task that was given up.
func TestBounds(t *testing.T) {
	r := New(&Known{}, func(p task.PeerID) bool { return p == "stays" })
	for i := range 2 * MaxClasses {
		r.Arrived(r.Class(fmt.Sprint(i)), start.Add(time.Duration(i)), 1, 0)
	}
	if len(r.All()) != MaxClasses || r.Get("0") != nil || r.Get(fmt.Sprint(2*MaxClasses-1)) == nil {
		t.Errorf("%d classes are kept, the oldest: %v", len(r.All()), r.Get("0") != nil)
	}
	k := r.Class("x")
	r.Ended(k, "stays", 1, time.Second, 0)
	for i := range mostMeasured {
		r.Ended(k, task.PeerID(fmt.Sprint(i)), 1, time.Second, 0)
	}
	if len(k.at) != 1 || k.Measured("stays") != 1 {
		t.Errorf("of %d members is a measure kept", len(k.at))
	}
	changes, last := 0, r.Version()
	for range 1000 {
		r.Ended(k, "stays", 1, time.Second, 0)
		if r.Version() != last {
			changes, last = changes+1, r.Version()
		}
	}
	if changes > 10 {
		t.Errorf("%d looks at what a thousand tasks taught", changes)
	}
	if r.GaveUp(k, "stays", time.Hour, 0); r.Version() == last {
		t.Error("nobody was told of a task that was given up")
	}
}
