package pilot

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func config(change func(*Config)) Config {
	c := Default()
	c.Most = 4
	if change != nil {
		change(&c)
	}
	return c
}

// idle returns usable idle nodes.
func idle(names ...string) (nodes []Node) {
	for _, name := range names {
		nodes = append(nodes, Node{Name: name, Usable: true})
	}
	return nodes
}

// running returns placeholders p1, p2 and so on, on nodes of the given names.
func running(nodes ...string) (places []Place) {
	for i, node := range nodes {
		places = append(places, Place{ID: fmt.Sprintf("p%d", i+1), Phase: Running, Node: node})
	}
	return places
}

// ended returns the orders of a plan as words such as p1:graceful.
func ended(p Plan) string {
	words := make([]string, len(p.Orders))
	for i := range p.Orders {
		words[i] = p.Orders[i].ID + ":" + string(p.Orders[i].How)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestStepAnswersOneSnapshot(t *testing.T) {
	all := []string{"a", "b", "c", "d"}
	for _, tt := range []struct {
		name   string
		config func(*Config)
		s      Snapshot
		submit int
		ends   string
	}{
		{"idle nodes are filled", nil, Snapshot{Nodes: idle("a", "b")}, 2, ""},
		{"at most Most are held", nil, Snapshot{Nodes: idle("a", "b", "c", "d", "e", "f")}, 4, ""},
		{"some nodes stay idle", func(c *Config) { c.KeepIdle = 2 }, Snapshot{Nodes: idle("a", "b", "c")}, 1, ""},
		{"nodes of other queues are not usable", nil, Snapshot{Nodes: []Node{{Name: "a"}}}, 0, ""},
		{"pending placeholders will take idle nodes", nil,
			Snapshot{Nodes: idle("a", "b"), Places: []Place{{ID: "p1"}}}, 1, ""},
		{"a node is counted once", nil, Snapshot{Nodes: idle("a"), Places: running("a")}, 0, ""},
		{"a waiting job gets what it needs", nil,
			Snapshot{Places: running(all...), Waiting: []Job{{ID: "1", Nodes: 2}}}, 0, "p3:graceful p4:graceful"},
		{"a waiting job gets nodes at once", func(c *Config) { c.Yield = Drastic },
			Snapshot{Places: running(all...), Waiting: []Job{{ID: "1", Nodes: 1}}}, 0, "p4:drastic"},
		{"idle nodes count for the job", nil,
			Snapshot{Nodes: idle("e"), Places: running("a", "b"), Waiting: []Job{{ID: "1", Nodes: 2}}}, 0, "p2:graceful"},
		{"an idle node counts for one job", nil,
			Snapshot{Nodes: idle("e"), Places: running("a", "b"), Waiting: []Job{{ID: "1", Nodes: 1}, {ID: "2", Nodes: 1}}},
			0, "p2:graceful"},
		{"a large job gets everything", nil,
			Snapshot{Places: running("a", "b"), Waiting: []Job{{ID: "1", Nodes: 1 << 30}}}, 0, "p1:graceful p2:graceful"},
		{"only nodes of the job's queues are given back", nil,
			Snapshot{Places: running(all...), Waiting: []Job{{ID: "1", Nodes: 3, Reach: map[string]bool{"b": true}}}},
			0, "p2:graceful"},
		{"required nodes come first", nil,
			Snapshot{Places: running(all...), Waiting: []Job{{ID: "1", Nodes: 2, Needs: []string{"b"}}}}, 0,
			"p2:graceful p4:graceful"},
		{"required nodes are given back although others are idle", nil,
			Snapshot{Nodes: idle("e"), Places: running(all...), Waiting: []Job{{ID: "1", Nodes: 1, Needs: []string{"a"}}}}, 0,
			"p1:graceful"},
		{"pending placeholders are withdrawn", nil,
			Snapshot{Places: []Place{{ID: "p1"}}, Waiting: []Job{{ID: "1", Nodes: 1}}}, 0, "p1:drastic"},
		{"kept nodes are restored", func(c *Config) { c.KeepIdle = 2 },
			Snapshot{Nodes: idle("e"), Places: running("a", "b")}, 0, "p2:graceful"},
		{"a lower Most ends placeholders", func(c *Config) { c.Most = 1 },
			Snapshot{Places: append(running("a", "b"), Place{ID: "p3"})}, 0, "p2:graceful p3:drastic"},
	} {
		cfg := config(tt.config)
		if err := cfg.Validate(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		plan := New(cfg).Step(start, &tt.s)
		if plan.Submit != tt.submit || ended(plan) != tt.ends {
			t.Errorf("%s: submit %d, end %q, want %d, %q", tt.name, plan.Submit, ended(plan), tt.submit, tt.ends)
		}
	}
}

func TestValidateRejectsWrongValues(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Most = 0 }, func(c *Config) { c.KeepIdle = -1 }, func(c *Config) { c.Yield = "slow" },
		func(c *Config) { c.Grace = 0 }, func(c *Config) { c.Quiet = -1 }, func(c *Config) { c.Settle = 0 },
	} {
		if c := config(change); c.Validate() == nil {
			t.Errorf("%+v is valid", c)
		}
	}
}

// Nodes granted to a job count for Settle. If the job still waits then, the demand doubles.
func TestJobIsServedOnceUntilNodesProveUnsuitable(t *testing.T) {
	p := New(config(nil))
	waits := []Job{{ID: "1", Nodes: 1}}
	places := running("a", "b", "c", "d")
	want := map[int]string{0: "p4:graceful", 10: "p2:graceful p3:graceful", 20: "p1:graceful"}
	for second := 0; second < 22; second += 2 {
		if second == 4 { // the drained node becomes idle, and the job does not take it
			places = places[:3]
		}
		if second == 14 {
			places = places[:1]
		}
		s := Snapshot{Nodes: idle("d"), Places: places, Waiting: waits}
		if second < 4 {
			s.Nodes = nil
		}
		if got := ended(p.Step(after(second), &s)); got != want[second] {
			t.Errorf("after %d s: end %q, want %q", second, got, want[second])
		}
	}
}

func TestIdleNodesThatDoNotSuitAreIgnored(t *testing.T) {
	p := New(config(nil))
	s := Snapshot{Nodes: idle("e"), Places: running("a"), Waiting: []Job{{ID: "1", Nodes: 1}}}
	if got := ended(p.Step(start, &s)); got != "" {
		t.Errorf("at first: end %q", got)
	}
	if got := ended(p.Step(after(2), &s)); got != "p1:graceful" {
		t.Errorf("after 2 s: end %q, want p1", got)
	}
}

func TestNoPlaceholderIsSubmittedSoonAfterLocalJob(t *testing.T) {
	p := New(config(nil))
	p.Step(start, &Snapshot{Waiting: []Job{{ID: "1", Nodes: 1}}})
	for second, want := range map[int]int{2: 0, 28: 0, 30: 1} {
		if got := p.Step(after(second), &Snapshot{Nodes: idle("a")}); got.Submit != want || got.Why == "" {
			t.Errorf("after %d s: submit %d (%s), want %d", second, got.Submit, got.Why, want)
		}
	}
}

func TestSubmissionsAreDelayedAfterFailures(t *testing.T) {
	p := New(config(nil))
	now, want := start, 30*time.Second
	for range 3 { // each placeholder ends after 2 s
		if plan := p.Step(now, &Snapshot{Nodes: idle("a")}); plan.Submit != 1 {
			t.Fatalf("%v: submit %d (%s), want 1", now, plan.Submit, plan.Why)
		}
		p.Submitted(now, "p1")
		p.Step(now.Add(time.Second), &Snapshot{Places: running("a")})
		now = now.Add(2 * time.Second)
		p.Step(now, &Snapshot{Nodes: idle("a")})
		if plan := p.Step(now.Add(want-1), &Snapshot{Nodes: idle("a")}); plan.Submit != 0 {
			t.Errorf("%v after a failure: submit %d, want 0", want-1, plan.Submit)
		}
		now = now.Add(want)
		want *= 2
	}
	p.SubmitFailed(now)
	if plan := p.Step(now, &Snapshot{Nodes: idle("a")}); plan.Submit != 0 {
		t.Errorf("after a rejection: submit %d, want 0", plan.Submit)
	}
}

func TestLatePlaceholderIsCanceled(t *testing.T) {
	p := New(config(nil))
	s := Snapshot{Places: running("a"), Waiting: []Job{{ID: "1", Nodes: 1}}}
	for second, want := range []string{"p1:graceful", "", "", "", "", "p1:drastic", "", "", "", "", "p1:drastic"} {
		if got := ended(p.Step(after(second), &s)); got != want {
			t.Errorf("after %d s: end %q, want %q", second, got, want)
		}
	}
	s.Places[0].Phase = Ending
	if got := ended(p.Step(after(20), &s)); got != "" {
		t.Errorf("while the node is cleared: end %q", got)
	}
}

func TestUnusedPendingPlaceholderIsWithdrawn(t *testing.T) {
	p := New(config(nil))
	s := Snapshot{Places: []Place{{ID: "p1"}}}
	if got := ended(p.Step(start, &s)); got != "" {
		t.Errorf("at first: end %q", got)
	}
	if got := ended(p.Step(after(10), &s)); got != "p1:drastic" {
		t.Errorf("after 10 s without an idle node: end %q, want p1", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	p := New(config(nil))
	p.Close()
	s := Snapshot{Nodes: idle("c"), Places: append(running("a", "b"), Place{ID: "p3"})}
	plan := p.Step(start, &s)
	if got := ended(plan); got != "p1:graceful p2:graceful p3:drastic" || plan.Submit != 0 {
		t.Errorf("end %q, submit %d", got, plan.Submit)
	}
}

// A cluster simulates a batch system with one first-come, first-served queue.
type cluster struct {
	nodes   []string
	holder  map[string]string // job or placeholder of each busy node
	places  map[string]string // node of each placeholder, "" if pending
	endsAt  map[string]time.Time
	waiting []Job
	since   map[string]time.Time // submissions of local jobs
	delay   time.Duration        // longest time until a local job started
	number  int
}

func newCluster(n int) *cluster {
	c := &cluster{holder: map[string]string{}, places: map[string]string{}, endsAt: map[string]time.Time{},
		since: map[string]time.Time{}}
	for i := range n {
		c.nodes = append(c.nodes, fmt.Sprintf("n%02d", i))
	}
	return c
}

func (c *cluster) free() (nodes []string) {
	for _, n := range c.nodes {
		if c.holder[n] == "" {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// advance completes due jobs and starts waiting jobs, local jobs first.
func (c *cluster) advance(now time.Time, length time.Duration) {
	for _, n := range c.nodes {
		id := c.holder[n]
		if at, ok := c.endsAt[id]; ok && !now.Before(at) {
			delete(c.holder, n)
			delete(c.places, id)
		}
	}
	for len(c.waiting) > 0 && c.waiting[0].Nodes <= len(c.free()) {
		j := c.waiting[0]
		for _, n := range c.free()[:j.Nodes] {
			c.holder[n] = j.ID
		}
		c.endsAt[j.ID] = now.Add(length)
		c.delay = max(c.delay, now.Sub(c.since[j.ID]))
		c.waiting = c.waiting[1:]
	}
	if len(c.waiting) > 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(c.places)) {
		if free := c.free(); c.places[id] == "" && len(free) > 0 {
			c.holder[free[0]], c.places[id] = id, free[0]
		}
	}
}

func (c *cluster) snapshot() *Snapshot {
	s := &Snapshot{Nodes: idle(c.free()...), Waiting: slices.Clone(c.waiting)}
	for _, id := range slices.Sorted(maps.Keys(c.places)) {
		place := Place{ID: id, Node: c.places[id]}
		if place.Node != "" {
			place.Phase = Running
		}
		s.Places = append(s.Places, place)
	}
	return s
}

// Local jobs that fit into the cluster without placeholders start within 10 s.
func TestPilotOfRandomCluster(t *testing.T) {
	const poll = 2 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12).Draw(t, "nodes")
		cfg := config(func(c *Config) {
			c.Most = rapid.IntRange(1, 14).Draw(t, "most")
			c.KeepIdle = rapid.IntRange(0, 3).Draw(t, "keep idle")
			c.Yield = rapid.SampledFrom([]Yield{Graceful, Drastic}).Draw(t, "yield")
		})
		c, p := newCluster(size), New(cfg)
		drain := time.Duration(rapid.IntRange(0, 5).Draw(t, "drain")) * time.Second
		last, orders := time.Time{}, map[string]bool{}
		for second := range 150 {
			now := after(second)
			busy := 0
			for _, id := range c.holder {
				if _, placeholder := c.places[id]; !placeholder {
					busy++
				}
			}
			for i := range c.waiting {
				busy += c.waiting[i].Nodes
			}
			if want := rapid.IntRange(-12, size).Draw(t, "local"); want > 0 && busy+want <= size {
				c.number++
				id := fmt.Sprintf("local%d", c.number)
				c.waiting, c.since[id] = append(c.waiting, Job{ID: id, Nodes: want}), now
			}
			c.advance(now, 20*time.Second)
			if second%int(poll/time.Second) != 0 {
				continue
			}
			plan := p.Step(now, c.snapshot())
			if len(c.waiting) > 0 {
				last = now
			}
			if plan.Submit > 0 && (len(c.waiting) > 0 || !last.IsZero() && now.Sub(last) < cfg.Quiet) {
				t.Fatalf("%d s: %d placeholders submitted, the last local job waited at %v", second, plan.Submit, last)
			}
			for i := range plan.Orders {
				o := &plan.Orders[i]
				if orders[o.ID] && o.How == Graceful || o.Reason == "" {
					t.Fatalf("%d s: order %+v is repeated or has no reason", second, *o)
				}
				orders[o.ID] = true
				if o.Node == "" {
					delete(c.places, o.ID)
				} else if c.endsAt[o.ID] = now.Add(drain); o.How == Drastic {
					c.endsAt[o.ID] = now
				}
			}
			for range plan.Submit {
				c.number++
				id := fmt.Sprintf("place%04d", c.number)
				c.places[id] = ""
				p.Submitted(now, id)
			}
			if len(c.places) > cfg.Most {
				t.Fatalf("%d s: %d placeholders, want at most %d", second, len(c.places), cfg.Most)
			}
		}
		if c.delay > 10*time.Second {
			t.Fatalf("a local job waited %v", c.delay)
		}
	})
}

// Waiting jobs get enough nodes, and no placeholder more than they want.
func TestDemandIsMetExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(config(func(c *Config) { c.Most = 20 }))
		held := rapid.IntRange(0, 10).Draw(t, "held")
		free := rapid.IntRange(0, 3).Draw(t, "free")
		s, want := Snapshot{}, 0
		for i := range held {
			s.Places = append(s.Places, Place{ID: fmt.Sprint("p", i), Phase: Running, Node: fmt.Sprint("h", i)})
		}
		for i := range free {
			s.Nodes = append(s.Nodes, idle(fmt.Sprint("f", i))...)
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			n := rapid.IntRange(1, 6).Draw(t, "wanted")
			want += n
			s.Waiting = append(s.Waiting, Job{ID: fmt.Sprint("j", i), Nodes: n})
		}
		if got, want := len(p.Step(start, &s).Orders), min(held, max(0, want-free)); got != want {
			t.Fatalf("%d placeholders end, want %d", got, want)
		}
	})
}
