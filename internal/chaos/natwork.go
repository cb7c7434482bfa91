package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// natJobCPU is what a job's one task takes, and natMoveCPU what one takes that moves: it still runs
	// when it has been seen to run, and its node has been told to send it away.
	natJobCPU, natMoveCPU = time.Second, 8 * time.Second
	// natMebibytes is what a task rewrites, and so what a move carries at least.
	natMebibytes = 4
	// natPairLimit bounds each step of a pair: what is carried through a relay comes at a megabyte a
	// second, and pairs work side by side.
	natPairLimit = 2 * time.Minute
	// natPort is where nodes listen in their namespaces.
	natPort = 4001
)

// A natWork is what came of the work of a pair of nodes.
type natWork struct {
	job     time.Duration // from handing a job in at one until it holds the result of the other
	move    time.Duration // from telling one to send its task away until the other has run it, or goes on with it
	handed  bool          // the nodes moved it between them; else it went on from its checkpoint
	rate    float64       // bytes a second of the move, over all of it
	err     error         // of the job
	moveErr error
}

// natNodes starts real nodes in the namespaces of hosts, in their place, and waits until those that
// nobody can dial have their relays.
func (t natTrial) natNodes(ctx context.Context, sides [2][]*callerHost, relays []string) (out [2][]*node, err error) {
	for side, hosts := range sides {
		for _, h := range hosts {
			h.end()
			n := t.natNode(h.where)
			if err := t.startKnowing(ctx, n, relays); err != nil {
				return out, err
			}
			out[side] = append(out[side], n)
		}
	}
	begun := time.Now()
	err = untilRelayed(ctx, hidden(t, slices.Concat(out[0], out[1])), func(n *node) (string, int, error) {
		s, err := n.ask.status(ctx)
		return fmt.Sprintf("node %d", n.index), len(s.Reach.Relays), err
	})
	if t.report.must(fmt.Sprintf("real nodes that cannot be dialled have two relays within %v", natHidden), err) {
		t.report.show("until all nodes that cannot be dialled have two relays", "", "%.0f s", time.Since(begun).Seconds())
	}
	return out, err
}

// natNode makes a node in a namespace, which listens as nodes do that are told nothing; it is not started.
func (t natTrial) natNode(where string) *node {
	n := t.addNode(fmt.Sprintf("/ip4/0.0.0.0/tcp/%d", natPort), "ip", "netns", "exec", where)
	n.flags = []string{"--listen", fmt.Sprintf("/ip4/0.0.0.0/udp/%d/quic-v1", natPort),
		"--listen", fmt.Sprintf("/ip6/::/tcp/%d", natPort),
		"--listen", fmt.Sprintf("/ip6/::/udp/%d/quic-v1", natPort)}
	return n
}

// natJobs has each node of one side work with each of the other, as many at a time as there are kinds.
func (t natTrial) natJobs(ctx context.Context, sides [2][]*node) error {
	small, err := t.newTide(ctx, natMebibytes, natJobCPU)
	if err != nil {
		return err
	}
	long := small
	long.Rounds = uint64(natMoveCPU.Seconds() * small.rate())
	done, err := eachPair(ctx, t, "work, round", func(i, k int) natWork {
		p := natPair{natTrial: t, a: sides[0][i], b: sides[1][k], name: fmt.Sprintf("pair%d-%d", i, k)}
		return p.work(ctx, small, long)
	})
	if err == nil {
		t.showWork(done)
	}
	return err
}

// A natPair is two nodes that share an overlay.
type natPair struct {
	natTrial
	a, b *node // a founds the overlay, and hands in
	name string
}

// work has the pair meet in an overlay of its own, b run a job of a, and a task move from a to b.
func (p *natPair) work(ctx context.Context, small, long tide) (w natWork) {
	if w.err = p.meet(ctx); w.err != nil {
		w.moveErr = w.err
		return w
	}
	w.job, w.err = p.job(ctx, small)
	w.moveErr = p.move(ctx, long, &w)
	for _, n := range []*node{p.a, p.b} {
		_ = n.ask.resume(ctx)
		_, err := n.verb(ctx, "overlay", "leave", p.name)
		w.moveErr = errors.Join(w.moveErr, err)
	}
	return w
}

// meet founds the overlay, and has the other join it by a ticket.
func (p *natPair) meet(ctx context.Context) error {
	if _, err := p.a.verb(ctx, "overlay", "create", p.name, "--admission", "invited", "--migration", p.policy,
		"--coordinators", "1"); err != nil {
		return err
	}
	ticket, err := p.a.verb(ctx, "overlay", "invite", p.name)
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, p.name+".ticket")
	if err := os.WriteFile(file, []byte(ticket), 0o600); err != nil {
		return fmt.Errorf("writing the ticket: %w", err)
	}
	if _, err := p.b.verb(ctx, "overlay", "join", "@"+file); err != nil {
		return err
	}
	return until(ctx, natPairLimit, func() string {
		leader := ""
		for _, n := range []*node{p.a, p.b} {
			v, err := n.ask.overlayNamed(ctx, p.name)
			switch {
			case err != nil:
				return err.Error()
			case v.Members < 2 || v.Leader == "" || leader != "" && v.Leader != leader:
				return fmt.Sprintf("node %d knows %d members and the leader %q", n.index, v.Members, short(v.Leader))
			}
			leader = v.Leader
		}
		return ""
	})
}

// submit hands a job of one task in at a.
func (p *natPair) submit(ctx context.Context, name string, d tide, checkpoint time.Duration) (*job, error) {
	j := &job{name: p.name + name, tasks: 1, at: p.a, labour: d.labour(checkpoint), handed: time.Now()}
	file, err := j.write(p.dir)
	if err != nil {
		return nil, fmt.Errorf("writing a job: %w", err)
	}
	asked, cancel := context.WithTimeout(ctx, natPairLimit)
	defer cancel()
	j.id, err = p.a.verb(asked, "run", file, "--overlay", p.name, "--detach")
	return j, err
}

// over waits until a has the result of a job, and says whether it is right.
func (p *natPair) over(ctx context.Context, j *job) (st jobView, err error) {
	err = until(ctx, natPairLimit, func() string {
		if st, err = p.a.ask.job(ctx, j.id); err != nil {
			return err.Error()
		}
		if !st.Final {
			return fmt.Sprintf("%s is %s", j.name, st.State)
		}
		return ""
	})
	if err == nil {
		err = errors.Join(j.complete(st), p.verify(ctx, j))
	}
	return st, err
}

// job has b run a job that a hands in, which takes nothing itself.
func (p *natPair) job(ctx context.Context, d tide) (time.Duration, error) {
	if err := p.a.ask.drain(ctx); err != nil {
		return 0, err
	}
	j, err := p.submit(ctx, "job", d, p.checkpoint)
	if err != nil {
		return 0, err
	}
	st, err := p.over(ctx, j)
	took := time.Since(j.handed)
	if err == nil && !ranAt(st, p.b.peer) {
		err = errors.New("another than the other side has run it")
	}
	return took, err
}

// ranAt says whether a job's task is known to have begun at a peer: its worker says so in the end.
func ranAt(st jobView, peer string) bool {
	for _, k := range st.List {
		for i := range k.Attempts {
			if a := &k.Attempts[i]; a.Worker == peer && !a.Began.IsZero() {
				return true
			}
		}
	}
	return false
}

// move has a task begin at a, and go to b when a is told to send it away.
func (p *natPair) move(ctx context.Context, d tide, w *natWork) error {
	if err := errors.Join(p.b.ask.drain(ctx), p.a.ask.resume(ctx)); err != nil {
		return err
	}
	j, err := p.submit(ctx, "move", d, p.checkpoint)
	if err != nil {
		return err
	}
	if err := p.runs(ctx, j, p.a); err != nil {
		return err
	}
	if err := p.b.ask.resume(ctx); err != nil {
		return err
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	told := time.Now()
	if err := p.a.ask.drain(ctx); err != nil {
		return err
	}
	if err := p.runs(ctx, j, p.b); err != nil {
		return err
	}
	w.move = time.Since(told)
	st, err := p.over(ctx, j)
	for _, k := range st.List {
		for i := range k.Attempts {
			if a := &k.Attempts[i]; a.handed() {
				w.handed, w.rate = true, float64(a.MovedBytes)/w.move.Seconds()
			}
		}
	}
	return err
}

// runs waits until a job's task runs at a node, or has.
func (p *natPair) runs(ctx context.Context, j *job, at *node) error {
	return until(ctx, natPairLimit, func() string {
		s, err := at.ask.status(ctx)
		if err != nil {
			return err.Error()
		}
		if s.Tasks > 0 {
			return ""
		}
		st, err := p.a.ask.job(ctx, j.id)
		if err != nil {
			return err.Error()
		}
		if !ranAt(st, at.peer) {
			return fmt.Sprintf("%s does not run at node %d", j.name, at.index)
		}
		return ""
	})
}

// known waits until the leader has a place at b.
func (p *natPair) known(ctx context.Context) error {
	return until(ctx, natPairLimit, func() string {
		for _, n := range []*node{p.a, p.b} {
			list, err := n.ask.peersOf(ctx, p.name)
			if err != nil {
				return err.Error()
			}
			for _, m := range list {
				if m.Peer == p.b.peer && (m.State != "available" || m.Free < 1) {
					return fmt.Sprintf("node %d is %s to node %d, with %d free slots", p.b.index, m.State, n.index, m.Free)
				}
			}
		}
		return ""
	})
}

// showWork prints what came of the pairs' work.
func (t natTrial) showWork(done [][]natWork) {
	t.showKinds("a job handed in (below), run there; a move there")
	var jobs, moves, slow []string
	for i := range done {
		row, moved := "", ""
		for k := range done[i] {
			w := &done[i][k]
			pair := t.kinds[i].short + " to " + t.kinds[k].short
			row += column(secondsOr(w.job, w.err))
			cell := secondsOr(w.move, w.moveErr)
			if w.moveErr == nil && !w.handed {
				cell += " saved"
				slow = append(slow, pair)
			}
			moved += column(cell)
			if w.err != nil {
				jobs = append(jobs, fmt.Sprintf("%s: %v", pair, w.err))
			}
			if w.moveErr != nil {
				moves = append(moves, fmt.Sprintf("%s: %v", pair, w.moveErr))
			}
		}
		t.report.show("  "+t.kinds[i].short+": s until the result is held", "", "%s", row)
		t.report.show("    s until the task has moved", "", "%s", moved)
	}
	t.report.expect("of each pair, a job of one side is run by the other", len(jobs) == 0, "%.900s",
		strings.Join(jobs, "; "))
	t.report.expect("of each pair, a task moves from one side to the other", len(moves) == 0, "%.900s",
		strings.Join(moves, "; "))
	t.report.show("moves that went on from a saved checkpoint", "", "%s", orNothing(strings.Join(slow, ", ")))
}

func secondsOr(d time.Duration, err error) string {
	if err != nil {
		return "none"
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}
