package freeze

import (
	"context"
	"time"

	"godwit/sandbox/wasm"
)

// InstrumentAtOnce is Instrument but for NaNs: each result of arithmetic is made canonical where it is made.
func InstrumentAtOnce(original []byte, o Options) (*Program, error) {
	m, err := wasm.Decode(original)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(m, o)
	if err != nil {
		return nil, err
	}
	p.atOnce = true
	return p.instrument()
}

// SetClock gives a machine that does not run yet another clock than the system's.
func (m *Machine) SetClock(now func() time.Time, sleep func(context.Context, time.Duration)) {
	m.now, m.sleep = now, sleep
}

// Kept gives how many bytes of resume functions a machine keeps that is not run just now, and how many of them the thaw
// before needed.
func (m *Machine) Kept() (all, needed int) {
	for _, c := range m.code.kept {
		if all += c.size; c.used == m.code.thaws {
			needed += c.size
		}
	}
	return all, needed
}

// KeepNothing drops all resume functions of a machine that has ended, and gives how many bytes of WebAssembly
// they were.
func (m *Machine) KeepNothing(ctx context.Context) (bytes int) {
	all, _ := m.Kept()
	m.cfg.Resumes = -1
	m.code.thaws++ // none is needed
	if err := m.shed(ctx); err != nil {
		panic(err)
	}
	return all
}
