package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks/disk"
	"godwit/task"
)

// Decisions are counted by name, of which there is no end of names.
func TestDecidedIsBounded(t *testing.T) {
	var d decided
	for i := range 3 * mostDecided {
		d.note(fmt.Sprint(i))
	}
	d.note("0")
	if len(d) != mostDecided+1 || d["0"] != 2 || d[otherDecisions] != 2*mostDecided {
		t.Errorf("%d names, %d of the first, %d others", len(d), d["0"], d[otherDecisions])
	}
}

// What a node measures is of what it ran and led, and two overlays of one name are told apart.
func TestMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		p := s.leading(s.peers[0])
		p.found(OverlayRules{Name: "lab"})
		time.Sleep(time.Second)
		p.found(OverlayRules{Name: "lab"})
		id := p.submit(20, time.Second)
		p.finish(id, 20)
		var ended uint64
		for _, p := range s.peers {
			m, err := p.Measures(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			ended += m.Ended[task.Completed]
		}
		if ended != 20 {
			t.Errorf("%d attempts completed, want 20", ended)
		}
		m, err := p.Measures(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, o := range m.Overlays {
			names[o.Overlay] = true
			if o.Overlay == DefaultOverlay && (o.Members != 2 || !o.Led || !o.Leads || o.Decided["placed"] < 20 ||
				o.Submitted != 0) {
				t.Errorf("%+v", o)
			}
		}
		if len(m.Overlays) != 3 || len(names) != 3 {
			t.Errorf("overlays %v", names)
		}
		if m.Up <= 0 || m.Slots != 2 || m.Net.Peers != 1 || len(m.Disk) != 4 {
			t.Errorf("%+v", m)
		}
	})
}

// A node says what keeps it from taking in a job.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		ready := func() []string {
			why, err := p.NotReady(context.Background())
			if err != nil || p.Alive(context.Background()) != nil {
				t.Fatal(err)
			}
			return why
		}
		if why := ready(); len(why) > 0 {
			t.Errorf("not ready: %q", why)
		}
		id := p.submit(20, 5*time.Second)
		p.disk.setHook(func([]string) error { return disk.ErrFull })
		s.until("the node is not ready", func() bool {
			return slices.ContainsFunc(ready(), func(why string) bool { return strings.Contains(why, "disk is full") })
		})
		p.disk.setHook(nil)
		s.until("it is ready again", func() bool { return len(ready()) == 0 })
		p.finish(id, 20)
	})
}
