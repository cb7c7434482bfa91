package owner

import (
	"context"
	"io/fs"
	"os"
	"time"

	"godwit/owner/sensor"
)

// settled is how old a file's time has to be for another change to show in it: file systems tell
// it by seconds, some by two.
const settled = 3 * time.Second

// watchRules takes over the file of rules whenever it changes. One that is not
// understood changes nothing: the rules before it hold.
func (m *Monitor) watchRules(ctx context.Context) {
	var seen fs.FileInfo
	_ = sensor.Poll(ctx, rulesEvery, func() error {
		before := seen
		seen, _ = os.Stat(m.cfg.File) // one that is not there is read in vain, which says so
		if !unchanged(before, seen, time.Now()) {
			m.readRules()
		}
		return nil
	})
}

// unchanged reports whether a file is as it was, by what its directory says of it.
func unchanged(before, now fs.FileInfo, at time.Time) bool {
	return before != nil && now != nil && os.SameFile(before, now) && before.Size() == now.Size() &&
		before.ModTime().Equal(now.ModTime()) && at.Sub(now.ModTime()).Abs() > settled
}

// readRules takes over the file of rules if it has changed.
func (m *Monitor) readRules() {
	b, err := readFile(m.cfg.File)
	if err == nil && string(b) == m.text {
		return
	}
	var rules Rules
	if err == nil {
		m.text = string(b)
		rules, err = m.parse(b)
	}
	if err == nil {
		m.cfg.Log.Info("the rules have changed", "file", m.cfg.File)
		m.change(func() { m.rules, m.badRules = rules, nil })
		return
	}
	if _, before := m.Rules(); before == nil || before.Error() != err.Error() {
		m.cfg.Log.Warn("the rules are not understood: those before hold", "err", err)
	}
	m.change(func() { m.badRules = err })
}
