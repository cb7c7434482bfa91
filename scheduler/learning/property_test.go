package learning

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// near says whether two numbers differ by rounding alone.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// A running mean is the plain mean of the first few, and from then on each counts for one in
// so many: it lies between the least and the most, and follows what lasts.
func TestMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 20).Draw(t, "most")
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 60).Draw(t, "values")
		var m mean
		sum, weighed := 0.0, 0.0
		least, greatest := values[0], values[0]
		for i, x := range values {
			m.add(x, most)
			sum += x
			least, greatest = min(least, x), max(greatest, x)
			if i < most {
				weighed = sum / float64(i+1)
			} else {
				weighed = weighed*(1-1/float64(most)) + x/float64(most)
			}
			if m.n != min(i+1, most) || !near(m.value, weighed) {
				t.Fatalf("after %d values, %d count and the mean is %v; want %v", i+1, m.n, m.value, weighed)
			}
			if m.value < least*(1-1e-9)-1e-9 || m.value > greatest*(1+1e-9)+1e-9 {
				t.Fatalf("the mean of %v to %v is %v", least, greatest, m.value)
			}
		}
		for range 40 * most {
			m.add(5, most)
		}
		if !near(m.value, 5) {
			t.Fatalf("it was 5 for long, and the mean is %v", m.value)
		}
	})
}

// The model of what is known of a class is a list of all that was said, read anew each time.
type heard struct {
	declared []float64            // seconds of work, as jobs told it
	ran      map[string][]float64 // seconds that tasks of the mean work took, by member
	onRef    []float64            // likewise, on the reference core
}

func running(values []float64, most int) (m mean) {
	for _, x := range values {
		m.add(x, most)
	}
	return m
}

func (h *heard) usual(wall, work time.Duration) float64 {
	if work <= 0 || len(h.declared) == 0 {
		return wall.Seconds()
	}
	return wall.Seconds() * running(h.declared, arrivalMemory).value / work.Seconds()
}

func (h *heard) expected(peer string, speed float64) (float64, bool) {
	if speed <= 0 {
		speed = 1
	}
	switch {
	case len(h.ran[peer]) > 0:
		return running(h.ran[peer], Weight).value, true
	case len(h.onRef) > 0:
		return running(h.onRef, arrivalMemory).value / speed, true
	case len(h.declared) > 0:
		return running(h.declared, arrivalMemory).value / speed, true
	}
	return 1 / speed, false
}

// What is expected of a member follows from all that was heard, in whatever order it came;
// looking changes nothing, and what comes of one class tells nothing of another.
func TestExpectedFollowsWhatWasHeard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(&Known{}, anybody)
		models := map[string]*heard{}
		now := start
		class := func(t *rapid.T) (*Class, *heard) {
			name := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "class")
			if models[name] == nil {
				models[name] = &heard{ran: map[string][]float64{}}
			}
			return r.Class(name), models[name]
		}
		seconds := rapid.IntRange(0, 100)
		work := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute})
		peer := rapid.SampledFrom([]string{"a", "b"})
		speed := rapid.SampledFrom([]float64{0, .5, 1, 3})
		t.Repeat(map[string]func(*rapid.T){
			"arrive": func(t *rapid.T) {
				k, h := class(t)
				w := work.Draw(t, "work")
				if w > 0 {
					h.declared = append(h.declared, w.Seconds())
				}
				r.Arrived(k, now, 1, w)
				now = now.Add(time.Second)
			},
			"end": func(t *rapid.T) {
				k, h := class(t)
				p, s, w := peer.Draw(t, "peer"), speed.Draw(t, "speed"), work.Draw(t, "work")
				wall := time.Duration(seconds.Draw(t, "wall")) * time.Second
				if wall > 0 {
					u := h.usual(wall, w)
					h.ran[p] = append(h.ran[p], u)
					if s > 0 {
						h.onRef = append(h.onRef, u*s)
					}
				}
				r.Ended(k, task.PeerID(p), s, wall, w)
			},
			"give up": func(t *rapid.T) {
				k, h := class(t)
				p, w := peer.Draw(t, "peer"), work.Draw(t, "work")
				took := time.Duration(seconds.Draw(t, "took")) * time.Second
				h.ran[p] = append(h.ran[p], h.usual(took, w))
				version := r.Version()
				if r.GaveUp(k, task.PeerID(p), took, w); r.Version() == version {
					t.Fatal("nobody is told of a task that was given up")
				}
			},
			"": func(t *rapid.T) {
				version := r.Version()
				for name, h := range models {
					k := r.Get(name)
					for _, p := range []string{"a", "b"} {
						for _, s := range []float64{0, 2} {
							want, known := h.expected(p, s)
							if got, is := k.Expected(task.PeerID(p), s); !near(got, want) || is != known {
								t.Fatalf("class %q at %s of speed %v takes %v, known: %v; want %v, %v", name, p, s, got, is, want,
									known)
							}
						}
						if n := k.Measured(task.PeerID(p)); n != min(len(h.ran[p]), Weight) {
							t.Fatalf("%d measurements of %s count, of %d", n, p, len(h.ran[p]))
						}
					}
					if !near(k.Work(), running(h.declared, arrivalMemory).value) {
						t.Fatalf("the mean work of class %q is %v", name, k.Work())
					}
				}
				if r.Version() != version {
					t.Fatal("looking changes what is known")
				}
			},
		})
	})
}

// Classes are kept by when a job of theirs came last: whichever else comes, the one that is
// forgotten is the one that has been without for longest.
func TestTheOldestClassMakesRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(&Known{}, anybody)
		last := map[string]time.Time{}
		now := start
		arrive := func(name string) {
			now = now.Add(time.Second)
			r.Arrived(r.Class(name), now, 1, 0)
			last[name] = now
		}
		for i := range MaxClasses {
			arrive(fmt.Sprint(i))
		}
		for range rapid.IntRange(0, 50).Draw(t, "jobs") {
			arrive(fmt.Sprint(rapid.IntRange(0, MaxClasses-1).Draw(t, "job")))
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "new") {
			oldest := ""
			for name, at := range last {
				if oldest == "" || at.Before(last[oldest]) {
					oldest = name
				}
			}
			version := r.Version()
			arrive(fmt.Sprint("new", i))
			delete(last, oldest)
			if r.Get(oldest) != nil || len(r.All()) != MaxClasses || r.Version() == version {
				t.Fatalf("%q is still one of %d classes", oldest, len(r.All()))
			}
			for name := range last {
				if k := r.Get(name); k == nil || k.Name != name {
					t.Fatalf("%q was forgotten, and %q had been without a job for longest", name, oldest)
				}
			}
		}
	})
}

// What is told beforehand counts as Weight measurements: as many real ones outweigh it.
func TestKnownBeforehand(t *testing.T) {
	r := New(&Known{
		Of:       map[string]map[task.PeerID]float64{"x": {"a": .5, "none": 0, "odd": math.NaN(), "minus": -1}},
		Arrivals: map[string]float64{"x": 2, "still": 0},
	}, anybody)
	x := r.Get("x")
	if s, known := x.Expected("a", 9); s != 2 || !known {
		t.Errorf("a takes %v, known: %v; it was told to do one in 2 s", s, known)
	}
	for _, p := range []task.PeerID{"none", "odd", "minus"} {
		if !x.Never(p) {
			t.Errorf("%s can do tasks of a rate that is none", p)
		}
	}
	if r.Get("still") == nil {
		t.Error("a class of which nothing comes is not known")
	}
	if rate, _ := r.Get("still").Arrivals(start); rate != 0 {
		t.Errorf("of the class of which nothing comes %v come a second", rate)
	}
	r.Ended(x, "a", 0, 12*time.Second, 0)
	if s, _ := x.Expected("a", 0); !near(s, 3) { // nine parts of 2 s, one of 12
		t.Errorf("after one measurement it takes %v, want 3", s)
	}
	if rate, jobs := x.Arrivals(start); !near(rate, 2) || jobs != Weight {
		t.Errorf("%v come a second, by %d jobs", rate, jobs)
	}
}

// Times that tell nothing teach nothing: a clock that stood still, or ran back.
func TestNothingIsLearntOfNoTime(t *testing.T) {
	r := New(&Known{}, anybody)
	k := r.Class("x")
	version := r.Version()
	for _, wall := range []time.Duration{0, -time.Second} {
		r.Ended(k, "a", 1, wall, time.Second)
	}
	if s, known := k.Expected("a", 2); known || s != .5 || k.Measured("a") != 0 || r.Version() != version {
		t.Errorf("a takes %v, known: %v", s, known)
	}
	r.Arrived(k, start, 5, 0)
	r.Arrived(k, start.Add(-time.Hour), 5, 0) // before the one that came first
	if rate, jobs := k.Arrivals(start); !near(rate, 5/3600.) || jobs != 2 {
		t.Errorf("%v come a second, by %d jobs", rate, jobs)
	}
}
