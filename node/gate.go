package node

import (
	"context"
	"slices"

	"godwit/node/exec"
	"godwit/p2p/wire"
	"godwit/scheduler/message"
	"godwit/task"
)

// serveBlocks answers a peer that asks for blocks: it gets those of the overlays that it is
// in with this node.
func (d *driver) serveBlocks(ctx context.Context, from task.PeerID, s *wire.Stream) {
	d.content.gate.Serve(ctx, from, s, func() (in []string) {
		for _, id := range d.net.Shared(from) {
			in = append(in, string(id))
		}
		return in
	})
}

// rootsOfAll lists what jobs of each overlay name here, by the overlay's ID.
func (d *driver) rootsOfAll(ctx context.Context) (map[string][]task.CID, error) {
	all := map[string][]task.CID{}
	err := d.do(ctx, func() {
		for _, m := range d.ordered() {
			roots := m.roots()
			for _, c := range m.Worker().Roots() {
				roots = append(roots, d.exec.Reads(task.JobID(c))...)
			}
			all[string(m.id)] = append(roots, d.exec.KeptRoots(m.id)...)
		}
	})
	return all, err
}

// roots lists what the machines of an overlay name; it is on the loop.
func (m *membership) roots() []task.CID {
	ledger := m.Replica().Roots
	if m.Coordinator() != nil {
		ledger = m.Coordinator().Roots
	}
	return slices.Concat(ledger(), m.Worker().Roots(), m.Submitter().Roots())
}

// holds notes content of the overlay's jobs that is here: its members may have it.
func (m *membership) holds(cids ...task.CID) { m.all.content.gate.Note(string(m.id), cids...) }

// noteContent notes what an event for a machine of the overlay names, before the machine
// can tell others of it.
func (m *membership) noteContent(ev message.Event) {
	switch e := ev.(type) {
	case message.Offer:
		if job, err := e.Record.Open(); err == nil {
			m.holds(append(exec.JobContent(job), task.CID(e.Record.ID()))...)
		}
	case message.Prepared:
		if e.Job != nil {
			m.holds(append(exec.JobContent(e.Job), task.CID(e.ID))...)
		}
	case message.Ended:
		m.holds(message.RemoteOutputs(&e.Result)...)
	case message.Checkpointed:
		m.holds(e.Checkpoint.CID)
	case message.NotArrived:
		if e.Saved != nil {
			m.holds(e.Saved.CID)
		}
	}
}
