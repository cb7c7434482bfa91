package scheduler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// assume makes rates of a class known, as if the configuration had them.
func (s *script) assume(class string) {
	if s.c.cfg.Rates.Of == nil {
		s.c.cfg.Rates.Of = map[string]map[task.PeerID]float64{}
	}
	known := map[task.PeerID]float64{}
	for _, a := range s.d.CmdArgs[1:] {
		rate, err := strconv.ParseFloat(a.Vals[0], 64)
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		known[s.peer(a.Key)] = rate
	}
	s.c.cfg.Rates.Of[class] = known
	s.c.learnt.Class(class)
}

// showScheduling prints what a person sees of classes and rates.
func (s *script) showScheduling() {
	v := s.c.Scheduling()
	for i := range v.Classes {
		k := &v.Classes[i]
		fmt.Fprintf(&s.out, "class %q: %d waiting, %d running, oldest %.1fs, %.4g/s by %d jobs\n", k.Class, k.Waiting,
			k.Running, k.Oldest, k.Arrival, k.Arrivals)
	}
	for i := range v.Members {
		m := &v.Members[i]
		fmt.Fprintf(&s.out, "%s: there=%v %d of %d, idle %.1fs, behind %.4gs;", s.rename(string(m.Peer)), m.There, m.Load,
			m.Slots, m.IdleFor, m.Behind)
		for _, r := range m.Rates {
			fmt.Fprintf(&s.out, " %s %.4g/s by %d", r.Class, r.Rate, r.Measured)
		}
		fmt.Fprintln(&s.out)
	}
	if a := v.Allocation; a != nil {
		fmt.Fprintf(&s.out, "allocation at %v, %s: lambda %.4g %s\n", a.Solved.Sub(schedtest.Start), a.Why, a.Lambda, a.Error)
		for i, name := range a.Class {
			var parts []string
			for k, p := range a.Peers {
				parts = append(parts, fmt.Sprintf("%s %.3g", s.rename(string(p)), a.Share[i][k]))
			}
			fmt.Fprintf(&s.out, "  %s: %s\n", name, strings.Join(parts, ", "))
		}
	}
}

// A leader's rates come to what a member does, whatever it tells of its speed and
// however unlike its tasks are, and follow when it becomes another.
func TestRatesConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCoordinator("leader", scripted(), 1)
		c.now = schedtest.Start
		h := c.members.host("member")
		h.speed = rapid.Float64Range(0, 10).Draw(t, "told speed")
		j := &job{class: c.learnt.Class("x"), spec: &task.Job{}}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		told := rapid.Bool().Draw(t, "jobs tell their work")
		for phase := range 2 {
			speed := rapid.Float64Range(0.01, 100).Draw(t, fmt.Sprint("speed ", phase))
			for range 200 {
				length := 1.0
				if told {
					length = 0.2 + 5*rng.Float64()
					j.spec.Work = time.Duration(length * float64(time.Second))
				}
				c.now = c.now.Add(time.Second)
				c.learnt.Arrived(j.class, c.now, 1, j.spec.Work)
				c.learnt.Ended(j.class, h.peer, h.usual(), time.Duration(length/speed*float64(time.Second)), j.spec.Work)
			}
			want := speed
			if told {
				want /= j.class.Work() // of tasks of mean length
			}
			if got := c.learnt.Of("x", h.peer); math.Abs(got/want-1) > 0.15 {
				t.Fatalf("phase %d: the rate is %v, want %v", phase, got, want)
			}
		}
		if got := c.learnt.Classes()[0].Arrival; math.Abs(got-1) > 0.01 {
			t.Fatalf("a task a second came, and the rate is %v", got)
		}
	})
}

// The queue by class shows each class's tasks as the plain one does, and all of them.
func TestClassesShowTheQueue(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		key, owner := schedtest.Identity(1)
		cfg := scripted()
		cfg.Rules.Placement = "gcmu"
		c := NewCoordinator(owner, cfg, 1)
		for k := range rapid.IntRange(1, 8).Draw(t, "jobs") {
			rec := schedtest.Job(tt, key, uint64(rapid.IntRange(1, 5).Draw(t, "tasks")), func(j *task.Job) {
				j.Nonce[0], j.Class = byte(k), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "class")
				j.Priority = rapid.IntRange(0, 1).Draw(t, "priority")
			})
			for _, e := range c.Step(schedtest.Start,
				&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}}) {
				if f, ok := e.(message.Fetch); ok {
					c.Step(schedtest.Start, message.Fetched{Key: f.Key})
				}
			}
		}
		h := c.members.host("member")
		h.memory = 1 << 40
		plain, byClass := map[string][]task.TaskID{}, map[string][]task.TaskID{}
		var v classView
		show := func(see func(q *classView)) {
			for last := math.MaxInt; ; {
				priority, ok := c.claims.byClass.below(last)
				if !ok {
					return
				}
				last = priority
				var q queueView
				q.begin(c, []*host{h}, nil)
				see(v.ofQueue(&q, c.claims.byClass, priority))
				q.rest()
			}
		}
		show(func(q *classView) {
			for x, ok := q.Next(); ok; x, ok = q.Next() {
				plain[x.Class] = append(plain[x.Class], x.ID)
			}
		})
		show(func(q *classView) {
			for _, name := range q.Waiting(nil) {
				for x, ok := q.NextOf(name); ok; x, ok = q.NextOf(name) {
					byClass[name] = append(byClass[name], x.ID)
				}
			}
		})
		if !reflect.DeepEqual(plain, byClass) {
			t.Fatalf("plain %v\nby class %v", plain, byClass)
		}
		n := 0
		for _, ids := range plain {
			n += len(ids)
		}
		if n != c.claims.waits {
			t.Fatalf("%d tasks shown, %d wait", n, c.claims.waits)
		}
	})
}
