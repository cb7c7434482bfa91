package owner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/owner/sensor"
	"godwit/trace"
)

// A hand is a sensor that a test moves.
type hand struct {
	mu     sync.Mutex
	report func(sensor.Reading)
	ready  chan struct{}
}

func (*hand) Name() string         { return "hand" }
func (*hand) Kinds() []sensor.Kind { return []sensor.Kind{sensor.Input} }

func (h *hand) Run(ctx context.Context, report func(sensor.Reading)) {
	h.mu.Lock()
	h.report = report
	h.mu.Unlock()
	h.touch(time.Now().Add(-time.Hour))
	close(h.ready)
	<-ctx.Done()
}

func (h *hand) touch(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report(sensor.Reading{Sensor: "hand", Kind: sensor.Input, At: time.Now(), Touched: at})
}

// A stage is a monitor that runs, and what it did in order.
type stage struct {
	*Monitor
	hand *hand
	mu   sync.Mutex
	did  []string
	told chan Decision
}

func newStage(t *testing.T, cfg Config) *stage {
	t.Helper()
	s := &stage{hand: &hand{ready: make(chan struct{})}, told: make(chan Decision, 100)}
	note := func(what string) func() {
		return func() { s.mu.Lock(); s.did = append(s.did, what); s.mu.Unlock() }
	}
	cfg.Sensors = []sensor.Sensor{s.hand}
	cfg.Stop, cfg.Continue = note("stop"), note("continue")
	cfg.Changed = func(d Decision) { note(d.State.String())(); s.told <- d }
	cfg.Machine = Machine{Cores: 4, Memory: 1 << 30}
	var err error
	if s.Monitor, err = NewMonitor(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { s.Run(ctx) })
	t.Cleanup(func() { cancel(); group.Wait() })
	<-s.hand.ready
	return s
}

// until waits for a decision.
func (s *stage) until(t *testing.T, what string, want func(Decision) bool) Decision {
	t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	for {
		select {
		case d := <-s.told:
			if want(d) {
				return d
			}
		case <-timer.C:
			t.Fatalf("no decision %s; the last is %+v", what, s.Decision())
		}
	}
}

func (s *stage) done() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.did, " ")
}

// Stop has been called when the sensor's report returns: nothing is between the
// owner's touch and it.
func TestOwnerFirst(t *testing.T) {
	rules := Default()
	rules.IdleTimeToRun = 300 * time.Millisecond
	s := newStage(t, Config{Rules: rules})
	s.until(t, "to work", func(d Decision) bool { return d.State == trace.Available && d.Cores == 4 })
	s.hand.touch(time.Now())
	if got := s.done(); !strings.HasSuffix(got, "available stop") {
		t.Errorf("at the touch the monitor did: %s", got)
	}
	d := s.until(t, "to stop", func(d Decision) bool { return d.Stop })
	if d.Rule != "run_if_user_active" || d.Sensor != "hand" {
		t.Errorf("got %+v", d)
	}
	s.until(t, "to go on when nobody is there again", func(d Decision) bool { return !d.Stop })
	if got := s.done(); !strings.HasSuffix(got, "user-present continue available") {
		t.Errorf("the monitor did: %s", got)
	}
}

func TestPauseIsObeyedAtOnce(t *testing.T) {
	s := newStage(t, Config{Rules: Everything(), Pause: Pause{On: true}})
	if d := s.Decision(); !d.Stop || d.Rule != RulePause {
		t.Errorf("a pause from before is forgotten: %+v", d)
	}
	if d := s.SetPause(Pause{}); d.Stop {
		t.Errorf("got %+v", d)
	}
	d := s.SetPause(Pause{On: true, Until: time.Now().Add(200 * time.Millisecond)})
	if !d.Stop || !strings.HasSuffix(s.done(), "stop") {
		t.Errorf("got %+v, did %s", d, s.done())
	}
	s.until(t, "to go on by itself", func(d Decision) bool { return !d.Stop && strings.HasSuffix(s.done(), "available") })
}

func TestRulesAreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	shared := make(chan []Share, 10)
	s := newStage(t, Config{File: path, Shared: func(s []Share) { shared <- s }})
	if r, err := s.Rules(); err != nil || r.MaxCores != Default().MaxCores {
		t.Errorf("a file that is not there: %v, %v", r, err)
	}
	s.until(t, "to work", func(d Decision) bool { return d.Cores == 4 })
	if err := Set(path, "max_cores", "3", Machine{}); err != nil {
		t.Fatal(err)
	}
	s.until(t, "by the new rules", func(d Decision) bool { return d.Cores == 3 })
	if err := os.WriteFile(path, []byte("max_cores: 1\nmax_corse: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for { // rules that are wrong change nothing, and doctor says so
		f := s.Examine("")
		if f[0].Result == Bad {
			if !strings.Contains(f[0].Text, "config.yaml:2:1") || !strings.Contains(f[0].Fix, `did you mean "max_cores"`) {
				t.Errorf("got %+v", f[0])
			}
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	if d := s.Decision(); d.Cores != 3 {
		t.Errorf("wrong rules are in force: %+v", d)
	}
	if err := os.WriteFile(path, []byte("max_cores: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.until(t, "by corrected rules", func(d Decision) bool { return d.Cores == 2 })
	for _, set := range []struct{ text, want string }{
		{"max_cores: 2\noverlays: {lab: 0, commons: 2}\n", "[{commons 2} {lab 0}]"}, // the decision is the same
		{"max_cores: 2\n", "[]"},
	} {
		if err := os.WriteFile(path, []byte(set.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(<-shared); got != set.want {
			t.Errorf("the shares are %s, want %s", got, set.want)
		}
	}
	if _, err := NewMonitor(Config{File: t.TempDir()}); err == nil {
		t.Error("a directory is rules")
	}
}

func TestExamine(t *testing.T) {
	find := func(f []Finding, check string) Finding {
		for _, f := range f {
			if strings.HasPrefix(f.Check, check) {
				return f
			}
		}
		t.Fatalf("no check %q in %+v", check, f)
		return Finding{}
	}
	none := filepath.Join(t.TempDir(), "none")
	blind := Examine(t.Context(), none, []sensor.Sensor{sensor.X11{Display: ":none"}, sensor.Evdev{Dev: none},
		sensor.TTYs{Dev: none}})
	if f := find(blind, "owner's presence"); f.Result != Bad || f.Fix == "" {
		t.Errorf("got %+v", f)
	}
	if f := find(blind, "x11: keyboard and mouse, full screen"); f.Result != Blind || f.Text == "" || f.Fix == "" {
		t.Errorf("got %+v", f)
	}
	dev := t.TempDir()
	if err := os.Mkdir(filepath.Join(dev, "pts"), 0o755); err != nil {
		t.Fatal(err)
	}
	headless := Examine(t.Context(), none, []sensor.Sensor{sensor.TTYs{Dev: dev}})
	if f := find(headless, "owner's presence"); f.Result != OK || !strings.Contains(f.Text, "terminals only (ttys)") {
		t.Errorf("got %+v", f)
	}
	if f := find(headless, "caps"); f.Text == "" {
		t.Errorf("got %+v", f)
	}
}

// A control group as the kernel shows a delegated one, in files.
func TestCage(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	get := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	why := func(want string) {
		t.Helper()
		if c := planGroup(dir, 42); c.Holds() || !strings.Contains(c.Text(), want) {
			t.Errorf("got %q, want %q", c.Text(), want)
		}
	}
	why("cannot be read")
	put("cgroup.controllers", "cpuset io pids\n")
	why("controllers")
	put("cgroup.controllers", "cpuset cpu io memory pids\n")
	why("root")
	put("cgroup.type", "domain\n")
	put("cgroup.procs", "42\n43\n")
	why("other programs")
	put("cgroup.procs", "42\n")
	why("not delegated")
	put("cgroup.subtree_control", "")
	c := planGroup(dir, 42)
	if !c.Holds() || !strings.HasPrefix(c.Text(), cagedText) {
		t.Fatalf("got %q", c.Text())
	}
	if err := c.build(42); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(77); err != nil {
		t.Error(err)
	}
	if err := c.Limit(3, 1<<30); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"godwit-node/cgroup.procs": "42", "cgroup.subtree_control": "+cpu +memory +pids",
		"godwit-tasks/pids.max": "448", "godwit-tasks/cgroup.procs": "77",
		"godwit-tasks/cpu.max": "300000 100000", "godwit-tasks/memory.max": "1073741824",
	} {
		if got := get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if err := c.Limit(0, 0); err != nil || get("godwit-tasks/memory.max") != "max" {
		t.Errorf("no limit: %v", err)
	}
	c.undo(42)
	if get("cgroup.procs") != "42" {
		t.Error("the process is not back")
	}
	put("cgroup.controllers", "cpu memory\n")
	put("cgroup.procs", "42\n")
	if c := planGroup(dir, 42); !c.Holds() || c.controllers("-") != "-cpu -memory" {
		t.Errorf("where threads cannot be limited: %+v", c)
	}
	open := &Cage{}
	if open.Add(1) != nil || open.Limit(1, 1) != nil || open.Close() != nil {
		t.Error("an open cage refuses")
	}
}
