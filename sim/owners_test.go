package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

var ownersStart = time.Date(2009, 2, 1, 0, 0, 0, 0, time.UTC)

// present is the part of the time in which hosts first to last-1 are their owners'.
func present(t *trace.Trace, first, last int) float64 {
	var sum, all time.Duration
	for _, h := range t.Hosts[first:last] {
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			all += s.Length()
			if s.State == trace.UserPresent {
				sum += s.Length()
			}
		}
	}
	return float64(sum) / float64(all)
}

// Sites are as busy as they are said to be, each by itself.
func TestOwnersBusy(t *testing.T) {
	o := Owners{Sites: []Site{{"quiet", 20, 0.1}, {"none", 5, 0}, {"busy", 20, 0.6}}, Stay: 4 * time.Minute, Most: 3,
		Seed: 1}
	set, err := o.Trace(ownersStart, 200*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Hosts) != 45 || set.Hosts[0].History.Host != "quiet-1" || set.Hosts[44].History.Host != "busy-20" {
		t.Fatalf("%d hosts, from %s on", len(set.Hosts), set.Hosts[0].History.Host)
	}
	for _, c := range []struct {
		first, last int
		want, off   float64
	}{{0, 20, 0.1, 0.01}, {20, 25, 0, 0}, {25, 45, 0.6, 0.03}} {
		if got := present(set, c.first, c.last); math.Abs(got-c.want) > c.off {
			t.Errorf("hosts %d to %d are their owners' for %v of the time, want %v", c.first, c.last, got, c.want)
		}
	}
}

// A load has a job in each period, with all its hosts at once, and leaves the times at
// which local users come alone.
func TestOwnersLoad(t *testing.T) {
	o := Owners{Sites: []Site{{"a", 6, 0}, {"b", 3, 0}}, Load: Load{"Block", 20 * time.Minute, 7, 10 * time.Minute},
		Seed: 3}
	set, err := o.Trace(ownersStart, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// the last may reach beyond the end
	if got, want := present(set, 0, 9), 7.*30/60/9; got > want+1e-9 || got < want*2/3 {
		t.Errorf("hosts are in use for %v of the time, want %v", got, want)
	}
	at := map[time.Time]int{}
	for _, h := range set.Hosts {
		for i := range h.History.Len() {
			if s := h.History.Spell(i); s.State == trace.UserPresent {
				at[s.Start]++
			}
		}
	}
	for when, n := range at {
		if n != 7 {
			t.Errorf("%d hosts are taken at %v", n, when)
		}
	}
	if len(at) != 3 {
		t.Errorf("jobs come at %v", at)
	}
}

func TestOwnersRefused(t *testing.T) {
	one := []Site{{"a", 4, 0.5}}
	for text, o := range map[string]Owners{
		"0 hosts: 1 to":   {},
		"busy for 0.99":   {Sites: []Site{{"a", 4, 0.99}}, Stay: 1, Most: 1},
		"busy for NaN":    {Sites: []Site{{"a", 4, math.NaN()}}, Stay: 1, Most: 1},
		"has local users": {Sites: one},
		`called ""`:       {Sites: []Site{{"", 4, 0}}},
		`called "a"`:      {Sites: []Site{{"a", 4, 0}, {"a", 1, 0}}},
		"has 0 hosts":     {Sites: []Site{{"a", 0, 0}}},
		"give all three":  {Sites: []Site{{"a", 4, 0}}, Load: Load{Each: 1, Hosts: 5, Run: 1}},
		"take fewer":      {Sites: one, Stay: 1, Most: 1},
	} {
		if _, err := o.Trace(ownersStart, 1000*time.Hour); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", o, err, text)
		}
	}
	if _, err := (&Owners{Sites: one, Stay: 1, Most: 1}).Trace(ownersStart, 0); err == nil {
		t.Error("no time at all was taken")
	}
}

// Whatever owners there are, histories fill the span, and equal ones are equal.
func TestOwnersWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Owners{Stay: time.Duration(rapid.IntRange(1, 100).Draw(t, "stay")) * time.Second,
			Most: rapid.IntRange(1, 4).Draw(t, "most"), Seed: rapid.Uint64().Draw(t, "seed")}
		hosts := 0
		for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "sites")] {
			s := Site{name, rapid.IntRange(1, 5).Draw(t, "hosts"), rapid.Float64Range(0, MaxBusy).Draw(t, "busy")}
			hosts += s.Hosts
			o.Sites = append(o.Sites, s)
		}
		if rapid.Bool().Draw(t, "load") {
			o.Load = Load{"x", time.Minute, rapid.IntRange(1, hosts).Draw(t, "of"),
				time.Duration(rapid.IntRange(1, 200).Draw(t, "run")) * time.Second}
		}
		set, err := o.Trace(ownersStart, 10*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		again, err := o.Trace(ownersStart, 10*time.Minute)
		if err != nil || len(set.Hosts) != hosts {
			t.Fatalf("%d hosts, %v", len(set.Hosts), err)
		}
		for i := range set.Hosts {
			h, other := set.Hosts[i].History, again.Hosts[i].History
			if !h.Since().Equal(set.Start) || !h.Until().Equal(set.End) || h.Len() != other.Len() {
				t.Fatalf("host %d: from %v to %v in %d spells; again %d", i, h.Since(), h.Until(), h.Len(), other.Len())
			}
		}
	})
}
