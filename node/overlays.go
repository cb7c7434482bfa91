package node

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"godwit/member"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/scheduler"
	"godwit/task"
)

// Overlays describes the overlays that this node serves, by name.
func (o *overlays) Overlays(ctx context.Context) ([]OverlayStatus, error) {
	var out []OverlayStatus
	err := o.look(ctx, func() {
		for _, m := range o.ordered() {
			out = append(out, m.status())
		}
	})
	return out, err
}

// OverlayDetail describes one overlay with its rules.
func (o *overlays) OverlayDetail(ctx context.Context, nameOrID string) (OverlayDetail, error) {
	var d OverlayDetail
	var err error
	if e := o.look(ctx, func() {
		var m *membership
		if m, err = o.find(nameOrID); err == nil {
			d = m.detail()
		}
	}); e != nil {
		return d, e
	}
	return d, err
}

// status is on the loop.
func (m *membership) status() OverlayStatus {
	s := OverlayStatus{
		Name: m.Manifest().Name, ID: m.id, Manifest: m.Manifest().CID(), Version: m.Manifest().Version, Share: m.weight(),
		Leader: m.Leader().Leader, Epoch: m.Leader().Epoch, Term: overlay.Term(m.Leader().Epoch), Role: RoleMember,
		Members: len(m.View().Members()), Group: slices.Clone(m.Group()),
	}
	if s.Group == nil {
		s.Group = []task.PeerID{}
	}
	m.holding(&s)
	m.fillCells(&s)
	return s
}

// digestEvery is the least time between two digests of the ledger for those who
// look: one of a large ledger takes the loop's time.
const digestEvery = time.Second

// A holding is what others are told of a copy of the ledger.
type holding struct {
	counts scheduler.LedgerCounts // at the time at
	digest [32]byte
	at     time.Time
}

// holding fills in the copy of the ledger here.
func (m *membership) holding(s *OverlayStatus) {
	var held interface {
		LedgerCounts() scheduler.LedgerCounts
		Digest() [32]byte
	}
	switch {
	case m.Coordinator() != nil:
		s.Role, s.Synced, held = RoleLeader, true, m.Coordinator()
	case slices.Contains(s.Group, m.all.self):
		s.Role, s.Synced, held = RoleCoordinator, m.Replica().Synced(), m.Replica()
	default:
		s.Synced, held = m.Replica().Synced(), m.Replica()
	}
	if now := m.all.now(); now.Sub(m.copied.at) >= digestEvery {
		m.copied = holding{held.LedgerCounts(), held.Digest(), now}
	}
	s.Jobs, s.Rows = m.copied.counts.Jobs, m.copied.counts.Rows
	if s.Jobs > 0 || s.Role != RoleMember {
		s.Digest = hex.EncodeToString(m.copied.digest[:])
	}
}

func (m *membership) detail() OverlayDetail {
	f := m.Manifest()
	return OverlayDetail{OverlayStatus: m.status(), Founder: f.Founder, Founded: f.Founded, Rules: OverlayRules{
		Name: f.Name, Placement: f.Placement, Migration: f.Migration, Predictor: f.Predictor, Fairness: f.Fairness, Chunking: f.Chunking,
		Coordinators: f.Group(), Replicas: max(1, f.Replicas), Verify: f.Checks.String(), Priorities: f.Priorities,
		Cells: cellsText(f.Undivided), SlotsEach: f.SlotsEach,
		Admission: f.Admission.String(), Allowed: slices.Clone(f.Allowed), Trusted: slices.Clone(f.Trusted),
	}}
}

// cellsText is an overlay's rule about cells.
func cellsText(undivided bool) string {
	if undivided {
		return CellsOff
	}
	return CellsOn
}

// apply puts the rules into a manifest to be signed.
func (r *OverlayRules) apply(m *overlay.Manifest, now time.Time) {
	m.Placement, m.Migration, m.Coordinators, m.Replicas = r.Placement, r.Migration, r.Coordinators, r.Replicas
	m.Predictor = r.Predictor
	m.Fairness, m.Chunking, m.Priorities = r.Fairness, r.Chunking, r.Priorities
	m.Undivided, m.SlotsEach = r.Cells == CellsOff, r.SlotsEach
	m.Checks, _ = r.floor() // which Check has looked at
	m.Admission, m.Allowed = overlay.Open, nil
	switch r.Admission {
	case AdmitInvited:
		m.Admission = overlay.Invited
	case AdmitListed:
		m.Admission = overlay.Listed
		m.Allowed = sorted(r.Allowed)
	}
	m.Trusted = sorted(r.Trusted)
	if r.RevokeInvitations {
		m.InvitesFrom = now
	}
}

// sorted returns a list in order, each peer once; nil for none.
func sorted(list []task.PeerID) []task.PeerID {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// CreateOverlay founds an overlay, which this node serves from then on.
func (o *overlays) CreateOverlay(ctx context.Context, r OverlayRules) (OverlayDetail, error) {
	if err := r.Check(); err != nil {
		return OverlayDetail{}, err
	}
	m := overlay.Manifest{Name: r.Name, Founder: o.self, Founded: time.Now().UTC()}
	r.RevokeInvitations = false
	r.apply(&m, m.Founded)
	if err := m.Sign(o.key); err != nil {
		return OverlayDetail{}, fmt.Errorf("%w: %w", ErrInvalidRules, err)
	}
	return o.serve(ctx, joined{First: m, Manifest: m, Share: usualShare})
}

// ChangeOverlay gives an overlay that this node founded new rules. Members follow
// within the time that gossip takes.
func (o *overlays) ChangeOverlay(ctx context.Context, nameOrID string, r OverlayRules) (OverlayDetail, error) {
	var d OverlayDetail
	var err error
	if e := o.do(ctx, func() {
		var m *membership
		if m, err = o.find(nameOrID); err != nil {
			return
		}
		if r.Name == "" {
			r.Name = m.Manifest().Name
		}
		switch {
		case m.Manifest().Founder != o.self:
			err = fmt.Errorf("%w: %s", ErrNotFounder, m.Manifest().Name)
		case r.Name != m.Manifest().Name:
			err = fmt.Errorf("%w: an overlay keeps its name", ErrInvalidRules)
		default:
			err = r.Check()
		}
		if err != nil {
			return
		}
		next := m.Manifest().Next()
		r.apply(&next, time.Now().UTC())
		if err = next.Sign(o.key); err != nil {
			err = fmt.Errorf("%w: %w", ErrInvalidRules, err)
			return
		}
		m.follow(next)
		d = m.detail()
	}); e != nil {
		return d, e
	}
	return d, err
}

// JoinOverlay has this node serve an overlay: one that goes by its name alone, one
// whose ID a connected peer knows, or one that a ticket invites to. Share is how
// much of the machine it gets beside other overlays, in any unit; 0 is the usual.
func (o *overlays) JoinOverlay(ctx context.Context, what string, share float64) (OverlayDetail, error) {
	if share == 0 {
		share = usualShare
	}
	if !(share > 0) || math.IsInf(share, 0) {
		return OverlayDetail{}, fmt.Errorf("%w: a share of %v", ErrInvalidRules, share)
	}
	j, err := o.resolve(ctx, what)
	if err != nil {
		return OverlayDetail{}, err
	}
	j.Share = share
	return o.serve(ctx, j)
}

// serve makes this node a member, or changes its share and what admits it.
func (o *overlays) serve(ctx context.Context, j joined) (OverlayDetail, error) {
	var d OverlayDetail
	var err error
	if e := o.do(ctx, func() {
		m := o.members[j.Manifest.ID()]
		if m == nil {
			if m, err = o.newMembership(context.WithoutCancel(ctx), j); err != nil {
				return
			}
			if err = o.enter(m); err != nil {
				return
			}
			m.log.Info("serving an overlay", "id", m.id, "share", m.share)
			o.lookAtKeys()
			o.tell(member.Wake{}) // be seen before anybody looks
		} else {
			m.readmit(j)
			for _, x := range j.Meetings {
				m.meetBy(x, o.clock.wall())
			}
		}
		if j.Share > 0 {
			m.share = j.Share
		}
		if err = o.saveJoined(); err != nil {
			return
		}
		d = m.detail()
	}); e != nil {
		return d, e
	}
	return d, err
}

// readmit takes over a newer invitation, and newer rules that were seen with it.
func (m *membership) readmit(j joined) {
	renewed := j.Pass != nil && !bytes.Equal(j.Pass, m.Pass())
	if renewed {
		m.all.at(func() { m.Readmit(j.Pass) })
	}
	if j.Manifest.Succeeds(m.Manifest()) {
		m.follow(j.Manifest)
	}
}

// enter takes up a membership: the network hears of it from now on.
func (o *overlays) enter(m *membership) error {
	if err := o.net.Join(m.network()); err != nil {
		return fmt.Errorf("joining overlay %s: %w", m.Manifest().Name, err)
	}
	if cell := m.Cell(); !cell.Whole() { // it was in this cell before a restart
		if err := o.net.EnterCell(m.id, cell); err != nil {
			return fmt.Errorf("entering cell %s of overlay %s: %w", cell, m.Manifest().Name, err)
		}
	}
	o.members[m.id] = m
	o.at(func() { o.peer.Enter(m.Member) })
	o.take(o.peer.Settle(o.now())) // the first advert says what it has
	return nil
}

// ErrBusyOverlay is returned for leaving an overlay in which this node has jobs
// of its own that are not over.
var ErrBusyOverlay = errors.New("node: this node has jobs in the overlay that are not over; cancel them or wait")

// LeaveOverlay ends the membership: tasks are given back, the leadership is handed
// over, and the others hear a goodbye. Results of jobs that are over stay.
func (o *overlays) LeaveOverlay(ctx context.Context, nameOrID string) error {
	var m *membership
	var err error
	if e := o.do(ctx, func() {
		if m, err = o.find(nameOrID); err != nil {
			return
		}
		for _, j := range m.Submitter().Jobs() {
			if !j.Final {
				err = fmt.Errorf("%w: %s", ErrBusyOverlay, j.ID)
				return
			}
		}
		m.goodbye()
	}); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	deadline := time.NewTimer(member.GoodbyeTime)
	defer deadline.Stop()
	look := time.NewTicker(goodbyeLook)
	defer look.Stop()
	for done := false; !done; {
		select {
		case <-look.C:
			if e := o.do(ctx, func() { done = m.IsGone() }); e != nil {
				return e
			}
		case <-deadline.C:
			done = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return o.do(ctx, func() { err = o.exit(m) })
}

// exit ends a membership that said its goodbye.
func (o *overlays) exit(m *membership) error {
	o.exec.Drop(func(of exec.Client) bool { return of == client{m} })
	m.sayGone()
	delete(o.members, m.id)
	o.content.gate.Leave(string(m.id))
	o.peer.Exit(m.Member)
	if err := o.saveJoined(); err != nil {
		return err
	}
	m.log.Info("serving an overlay no longer", "id", m.id)
	return o.net.Leave(m.id)
}
