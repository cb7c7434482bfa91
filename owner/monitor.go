package owner

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"godwit/owner/sensor"
)

// Config is what a Monitor needs. Only the functions must be set.
type Config struct {
	File    string          // of the rules, watched for changes; "" for Rules
	Rules   Rules           // where there is no file
	Sensors []sensor.Sensor // nil for those of this machine
	Machine Machine
	Pause   Pause // the owner's word as it was when the node last ran

	// Stop makes every running task stand still, Continue lets them go on. They
	// are called in turn, Stop first thing when the owner is back, from any
	// goroutine but one at a time; they must return at once.
	Stop, Continue func()
	// Changed is called from Run for every decision that differs from the one
	// before, after Stop or Continue. Of decisions that follow fast the last
	// is enough.
	Changed func(Decision)
	// Shared is called from Run with the overlays of the rules when they are not
	// as they were. The slice is the receiver's to read. nil: nobody asks.
	Shared func([]Share)

	Log *slog.Logger // nil for none
}

// A Monitor watches the machine for its owner.
type Monitor struct {
	cfg  Config
	news chan struct{} // has a token when the decision changed

	mu       sync.Mutex
	rules    Rules
	badRules error
	pause    Pause
	readings map[seat]sensor.Reading
	decider  Decider
	decision Decision
	begun    bool   // a decision was made
	text     string // of the file of rules, as last read
}

// A seat is what a reading replaces the former of.
type seat struct {
	sensor string
	kind   sensor.Kind
}

// rulesEvery is how often the file of rules is looked at.
const rulesEvery = time.Second

// NewMonitor returns a monitor that has read the rules and decided for the
// first time, without any reading. A file that cannot be read or understood is
// an error: nothing must run by rules that the owner did not write.
func NewMonitor(cfg Config) (*Monitor, error) {
	if cfg.Sensors == nil {
		cfg.Sensors = sensor.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	m := &Monitor{cfg: cfg, news: make(chan struct{}, 1), rules: cfg.Rules, pause: cfg.Pause,
		readings: map[seat]sensor.Reading{}, decider: Decider{Machine: cfg.Machine}}
	if cfg.File != "" {
		b, err := readFile(cfg.File)
		if err != nil {
			return nil, err
		}
		if m.rules, err = m.parse(b); err != nil {
			return nil, err
		}
		m.text = string(b)
	}
	m.change(func() {})
	return m, nil
}

// parse reads the rules for this machine. Cores are not compared: an experiment lends
// more of them than there are.
func (m *Monitor) parse(b []byte) (Rules, error) {
	return ParseFor(m.cfg.File, b, Machine{Memory: m.cfg.Machine.Memory})
}

// Run watches until ctx ends, and returns when every sensor has ended.
func (m *Monitor) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, s := range m.cfg.Sensors {
		group.Go(func() { s.Run(ctx, m.report) })
	}
	if m.cfg.File != "" {
		group.Go(func() { m.watchRules(ctx) })
	}
	defer group.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var told Decision
	shared, _ := m.Rules()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.news:
		case <-timer.C:
			m.change(func() {})
		}
		d := m.Decision()
		if !equal(d, told) {
			told = d
			m.cfg.Changed(d)
		}
		if rules, _ := m.Rules(); m.cfg.Shared != nil && !slices.Equal(rules.Overlays, shared.Overlays) {
			shared = rules
			m.cfg.Shared(rules.Overlays)
		}
		if !d.Next.IsZero() {
			// The wall clock may be set: look again within a minute.
			timer.Reset(min(max(time.Until(d.Next), time.Millisecond), time.Minute))
		}
	}
}

// equal compares decisions without Next, which is the monitor's own business.
func equal(a, b Decision) bool {
	a.Next, b.Next = time.Time{}, time.Time{}
	return a == b
}

// report takes in a reading, on the sensor's goroutine: nothing stands between
// the owner's touch and Stop.
func (m *Monitor) report(r sensor.Reading) {
	m.change(func() { m.readings[seat{r.Sensor, r.Kind}] = r })
}

// change does f, decides anew and obeys.
func (m *Monitor) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	before := m.decision
	m.decision = m.decider.Decide(time.Now(), m.rules, m.list(), m.pause)
	switch {
	case m.decision.Stop && (!before.Stop || !m.begun):
		m.cfg.Stop()
	case !m.decision.Stop && (before.Stop || !m.begun):
		m.cfg.Continue()
	}
	m.begun = true
	select {
	case m.news <- struct{}{}:
	default:
	}
}

func (m *Monitor) list() []sensor.Reading {
	out := make([]sensor.Reading, 0, len(m.readings))
	for _, r := range m.readings {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b sensor.Reading) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Sensor, b.Sensor))
	})
	return out
}

// Decision returns the newest decision.
func (m *Monitor) Decision() Decision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.decision
}

// Readings returns the newest reading of each sensor and kind, in a fixed order.
func (m *Monitor) Readings() []sensor.Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list()
}

// Rules returns the rules in force, and why the file's are not, if they are not.
func (m *Monitor) Rules() (Rules, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rules, m.badRules
}

// SetPause takes the owner's word. When it returns, tasks stand still or go on.
func (m *Monitor) SetPause(p Pause) Decision {
	m.Amend(func(was *Pause) { *was = p })
	return m.Decision()
}

// Amend changes the owner's word, as SetPause, and returns what it is then.
func (m *Monitor) Amend(change func(*Pause)) (p Pause) {
	m.change(func() {
		change(&m.pause)
		p = m.pause
	})
	return p
}

// Release lets a machine go that is about to sleep or to shut down: all that
// could be moved has been.
func (m *Monitor) Release() {
	for _, s := range m.cfg.Sensors {
		if h, ok := s.(sensor.Holder); ok {
			h.Release()
		}
	}
}
