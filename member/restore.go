package member

import (
	"encoding/json"
	"iter"
	"slices"

	"godwit/overlay"
	"godwit/task"
)

// Restore brings the machines and the lease back to what was durable. load returns the
// pairs whose keys begin with a prefix, scan the same one after another, in order. It
// is called in At, once, before the member is entered; alone reports whether the last
// coordinators that it knew were none but itself. What cannot be read is left out and
// told as notices: the rest is good.
func (m *Member) Restore(load func(prefix string) (map[string][]byte, error),
	scan func(prefix string) iter.Seq2[string, []byte]) (alone bool, err error) {
	if err := m.submitter.Restore(scan); err != nil {
		m.notice(Error, "part of the submitted jobs cannot be read", "err", err)
	}
	ended, err := load("w/")
	if err != nil {
		return false, err
	}
	if err := m.worker.Restore(ended); err != nil {
		m.notice(Error, "part of the finished results cannot be read; their tasks run again", "err", err)
	}
	kept, err := load("l/")
	if err != nil {
		return false, err
	}
	var last LeaseRecord
	if b, ok := kept[LeaseKey]; ok {
		if err := json.Unmarshal(b, &last); err != nil {
			m.notice(Error, "the last epoch cannot be read", "err", err)
		}
	}
	pairs, err := load("c/")
	if err != nil {
		return false, err
	}
	effects, err := m.replica.Restore(pairs)
	if err != nil {
		m.notice(Error, "part of the ledger cannot be read; other coordinators and the submitters have those jobs", "err",
			err)
	}
	m.do(m.replica, effects)
	m.lease = overlay.NewLease(m.p.cfg.Self, max(last.Epoch, m.replica.Epoch()), m.p.now)
	m.lease.Trust(roll{m})
	m.lease.Remember(slices.Concat(last.Led, last.Group)...)
	m.lease.Follows(last.Followed...)
	m.kept = last
	m.restoreCell(kept[CellKey], slices.Concat(last.Led, last.Group))
	m.regroupAt = m.p.now
	return len(last.Group) == 0 || slices.Equal(last.Group, []task.PeerID{m.p.cfg.Self}), nil
}

// Asked says that newer rules were asked for, and whether or not they were to be had:
// the next advert of a member that follows newer ones has them asked for again.
func (m *Member) Asked() { m.asking = false }

// Follow obeys a newer version of the overlay's rules, whose signature was checked.
func (m *Member) Follow(newest overlay.Manifest) {
	out := m.view.SetManifest(newest)
	m.manifest = newest
	if newest.Undivided && !m.cell.Whole() {
		m.goTo(overlay.Cell{}, nil, "the overlay's rules disable cells")
	}
	m.submitter.Assume(Assumed(newest.Admission))
	if m.coordinator != nil {
		if err := m.coordinator.Govern(m.p.cfg.Experiment.rules(&m.manifest)); err != nil {
			m.notice(Error, "this node cannot follow the overlay's policies: the usual ones hold", "err", err)
		}
	}
	for _, peer := range out {
		m.missed(peer)
		m.goneFrom(peer, "the overlay does not admit it any more")
	}
	if err := newest.Admits(m.p.cfg.Self, m.pass, m.p.now); err != nil {
		m.notice(Warn, "the overlay does not admit this node any more", "err", err)
	}
	m.regroupSoon()
	m.Advertise()
}

// Readmit takes over a newer pass, and tells the others.
func (m *Member) Readmit(pass []byte) {
	m.pass = pass
	m.Advertise()
}
