package zhang

import (
	"strings"
	"testing"

	"godwit/reproduce"
	"godwit/trace"
)

// supplied are small sets that stand for originals: made, and not said to be.
func supplied(t *testing.T, hosts, days int) map[string]*trace.Trace {
	t.Helper()
	out := map[string]*trace.Trace{}
	for _, name := range reproduce.Sets {
		s, err := trace.Synthesize(name, trace.SynthConfig{Hosts: hosts, Days: days, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.Synthetic = ""
		out[name] = s
	}
	return out
}

// TestSuppliedTraces: experiments run on original traces where somebody has them, and
// then judge numbers, not directions alone.
func TestSuppliedTraces(t *testing.T) {
	traces := supplied(t, 12, 4)
	for _, tt := range []struct {
		experiment string
		cells      int
		published  map[string]string
	}{
		{"E1", 20, map[string]string{"UCB: A, N = 1": "4934", "UCB: S, N = 1": "2329", "UCB: F, N = 1": "2546",
			"UCB: success, N = 6": "74.17 %", "DEUG: A, N = 1": "6481", "DEUG: success, N = 1": "53.31 %",
			"DEUG: success, N = 1, as printed": "44.78 %"}},
		{"E2", 14, map[string]string{"UCB: A, T = 0 %": "9897", "UCB: A, T = 10 %": "8092", "UCB: A, T = 20 %": "5883",
			"UCB: A, T = 30 %": "5882", "UCB: T = 0 is FCFS, A/S/F": "equal", "DEUG: T = 0 is FCFS, A/S/F": "equal"}},
		{"E8", 91, map[string]string{"UCB: N = 6, P = 10 min: CP1": "3644", "UCB: N = 6, P = 10 min: D": "64.89 %",
			"UCB: N = 1, P = 10 min: C": "30.94 %", "SDSC: N = 6, P = 10 min: CP1": "306", "LRI: N = 1, P = 10 min: CP1": "2",
			"DEUG: N = 6, P = 1 min: FA": "28392"}},
		{"6", 29, map[string]string{"UCB: unavailability events a resource-day": "7.595", "LRI: daily pairs": "367",
			"SDSC: mean daily rho": "0.03628", "DEUG: daily series that are not constant": "1719",
			"DEUG: variance of the number available": "254.822"}},
		{"E9", 3, map[string]string{"UCB: CP1 of CBR": "130.8", "LRI: CP1 of CBR": "213.4"}},
	} {
		es, err := reproduce.Select(Experiments(), []string{tt.experiment})
		if err != nil {
			t.Fatal(err)
		}
		r, err := es[0].Run(reproduce.Options{Seed: 1, Traces: traces, Each: atOnce})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Cells) != tt.cells {
			t.Errorf("%s has %d cells, want %d", tt.experiment, len(r.Cells), tt.cells)
		}
		by := map[string]reproduce.Cell{}
		for _, c := range r.Cells {
			by[c.Cell] = c
			if strings.Contains(c.Cell, "-like") || c.Seed != 1 || c.Experiment != tt.experiment {
				t.Errorf("%s: %+v", tt.experiment, c)
			}
		}
		for name, want := range tt.published {
			if c := by[name]; c.Published != want {
				t.Errorf("%s: %s: published %q, want %q", tt.experiment, name, c.Published, want)
			}
		}
		for _, name := range []string{"UCB", "DEUG"} {
			if c, there := by[name+": T = 0 is FCFS, A/S/F"]; there && c.Verdict != reproduce.Equal {
				t.Errorf("%+v", c)
			}
		}
		if said := strings.Join(r.Setup, "\n"); !strings.Contains(said, "as supplied, 12 hosts, 4 days") {
			t.Errorf("%s: %s", tt.experiment, said)
		}
	}
}

// TestNoFalseOriginals: what was made cannot stand for an original.
func TestNoFalseOriginals(t *testing.T) {
	made, err := trace.Synthesize("ucb", trace.SynthConfig{Hosts: 3, Days: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{&reproduce.Bench{Options: reproduce.Options{Traces: map[string]*trace.Trace{"ucb": made}}}}
	if s, err := b.set("ucb", trace.SynthConfig{}); s != nil || err == nil ||
		!strings.Contains(err.Error(), "cannot stand for the original UCB") {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := b.set("home", trace.SynthConfig{}); s != nil || err == nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestReplicas: a set that is made is made several times, with other hosts; an original
// is there once.
func TestReplicas(t *testing.T) {
	b := &bench{&reproduce.Bench{Options: reproduce.Options{Seed: 3}}}
	sets, err := b.replicas("lri", 2)
	if err != nil || len(sets) != 2 || sets[0].original || sets[0].label() != "LRI-like" || len(b.Setup) != 2 {
		t.Fatalf("got %v, %v, %q", sets, err, b.Setup)
	}
	end := func(s *set) string { return s.watched.Hosts[0].History.Spell(0).End.String() }
	if end(sets[0]) == end(sets[1]) && sets[0].watched.Hosts[1].History.Len() == sets[1].watched.Hosts[1].History.Len() {
		t.Error("both are the same hosts")
	}
	b.Traces = supplied(t, 4, 3)
	if sets, err = b.replicas("lri", 2); err != nil || len(sets) != 1 || !sets[0].original || sets[0].label() != "LRI" {
		t.Errorf("got %v, %v", sets, err)
	}
}

// TestDraw: hosts and days of a set are drawn by seed, the watched and the assumed ones
// alike.
func TestDraw(t *testing.T) {
	b := &bench{&reproduce.Bench{Options: reproduce.Options{Traces: supplied(t, 30, 6)}}}
	s, err := b.set("sdsc", trace.SynthConfig{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := range uint64(5) {
		d := s.draw(10, 3, seed)
		if len(d.hosts.Hosts) != 10 || len(d.watched.Hosts) != 10 || d.watched.Days() != 3 || !d.original {
			t.Errorf("seed %d: %d hosts, %d days", seed, len(d.hosts.Hosts), d.watched.Days())
		}
		names := ""
		for i, h := range d.hosts.Hosts {
			if h.History.Host != d.watched.Hosts[i].History.Host {
				t.Errorf("seed %d: host %d is %s and %s", seed, i, h.History.Host, d.watched.Hosts[i].History.Host)
			}
			names += h.History.Host + " "
		}
		seen[names] = true
	}
	if len(seen) != 5 {
		t.Errorf("5 seeds draw %d choices of hosts", len(seen))
	}
	if all := s.draw(100, 100, 1); len(all.hosts.Hosts) != 30 || !all.watched.End.Equal(s.watched.End) {
		t.Errorf("more than there is: %d hosts to %v", len(all.hosts.Hosts), all.watched.End)
	}
}
