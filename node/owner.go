package node

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	disks "github.com/shirou/gopsutil/v4/disk"

	"godwit/node/exec"
	"godwit/owner"
	"godwit/owner/sensor"
	"godwit/scheduler/message"
)

// pauseKey is where the owner's word is kept, so that it outlives the node.
const pauseKey = "n/pause"

// A rater is a network that keeps to rates, in bytes a second; 0 for none.
type rater interface{ SetRates(up, down int64) }

// askOwner reads the rules and the owner's last word, and takes the first
// decision: nothing has run before.
func (n *Node) askOwner(ctx context.Context) error {
	pause, err := n.loadPause(ctx)
	if err != nil {
		return err
	}
	cfg := owner.Config{
		File: n.cfg.RulesFile, Rules: owner.Everything(), Pause: pause, Log: n.log,
		Machine: owner.Machine{Cores: n.cfg.Cores, Memory: totalMemory(), Lent: n.cfg.Memory},
		Stop:    n.exec.Runner.Pause, Continue: n.exec.Runner.Resume,
		Changed: func(d owner.Decision) { n.post(post{call: func() { n.decided(d) }}) },
		Shared:  func(s []owner.Share) { n.post(post{call: func() { n.reweigh(s) }}) },
	}
	if cfg.File == "" {
		cfg.Sensors = []sensor.Sensor{}
	} else if u, err := disks.Usage(n.cfg.DataDir); err == nil {
		cfg.Machine.Disk = int64(u.Total)
		cfg.Sensors = append(sensor.System(), sensor.DataDir{Dir: n.cfg.DataDir})
	}
	if n.cfg.Experiment.Replay != nil {
		cfg.Sensors = []sensor.Sensor{owner.Replay{History: n.cfg.Experiment.Replay}}
	}
	if n.monitor, err = owner.NewMonitor(cfg); err != nil {
		return fmt.Errorf("reading the owner's rules: %w", err)
	}
	rules, _ := n.monitor.Rules()
	n.weights = rules.Overlays
	n.decided(n.monitor.Decision())
	return nil
}

// decided obeys the owner, on the loop. Tasks have been stopped already.
func (n *Node) decided(d owner.Decision) {
	before := n.decision
	n.decision, n.moveAt = d, d.MoveAt
	if n.movedOut = n.movedOut && d.Stop; n.movedOut {
		n.moveAt = time.Time{}
	}
	n.exec.Lend(d)
	n.departIfDue(n.now())
	if r, ok := n.net.(rater); ok {
		r.SetRates(d.Upload, d.Download)
	}
	s := message.OwnerState{State: d.State, Slots: d.Cores, Memory: d.Memory, Reason: d.Reason, Until: d.Until}
	if s == n.owner {
		return
	}
	n.owner = s
	if d.Rule != before.Rule || d.State != before.State {
		n.log.Info("the owner's rules", "state", d.State, "rule", d.Rule, "sensor", d.Sensor, "reason", d.Reason)
	}
	n.noteState(d.State, min(1, float64(d.Cores)/float64(max(1, n.cfg.Cores))), n.now())
	if s.Slots == 0 {
		n.exec.Drop(func(exec.Client) bool { return true })
	}
	n.shareOut()
	n.exec.Fit()
	for _, m := range n.ordered() {
		m.regroupSoon()
	}
	n.advertiseSoon()
}

// moveRetry is how often tasks that cannot be saved, and that nobody else could
// take, are offered again.
const moveRetry = time.Minute

// moveIfDue has stopped tasks go on elsewhere when their grace has passed. Where
// there is no elsewhere they are saved all the same, to wait with the leader: the
// owner's memory is free then, and they go on wherever there is room, be it here.
func (n *Node) moveIfDue(now time.Time) {
	if n.moveAt.IsZero() || n.moveAt.After(now) {
		return
	}
	n.moveAt = time.Time{}
	if n.decision.Rule == owner.RuleDrain { // what the leader finds no place for ends here
		return
	}
	elsewhere := n.othersCanWork()
	n.movedOut = n.decision.Stop
	n.shareOut()
	stay, leave := n.exec.MoveOut(elsewhere, n.owner.Reason)
	switch {
	case n.decision.Rule != owner.RuleGoing:
		if stay > 0 {
			n.moveAt = now.Add(moveRetry)
		}
	case leave == 0 && stay > 0:
		n.monitor.Release()
	default:
		until := n.decision.Until
		n.spawn(func() { n.releaseWhenMoved(until, stay) })
	}
}

// releaseWhenMoved lets the machine go once no task runs here but those that stay,
// or just before the system would go anyway.
func (n *Node) releaseWhenMoved(until time.Time, stay int) {
	const look = 20 * time.Millisecond
	defer n.monitor.Release()
	t := time.NewTicker(look)
	defer t.Stop()
	for time.Now().Before(until) {
		left := 0
		if n.do(context.Background(), func() { left = n.exec.Count() }) != nil || left <= stay {
			return
		}
		<-t.C
	}
}

// Pause stops all tasks at once, for d or, where that is 0, until Resume. The
// owner's word is durable when Pause returns.
func (n *Node) Pause(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("cannot pause for %v", d)
	}
	now := time.Now().Round(0) // by the wall clock: it outlives the node
	return n.amend(ctx, func(p *owner.Pause) {
		p.On, p.Since, p.Until = true, now, time.Time{}
		if d > 0 {
			p.Until = now.Add(d)
		}
	})
}

// Drain has the node take nothing new and what runs move to others, until Resume.
// The owner's word is durable when Drain returns; what is left then Status tells.
func (n *Node) Drain(ctx context.Context) error {
	now := time.Now().Round(0)
	return n.amend(ctx, func(p *owner.Pause) {
		if p.Drain = true; !p.On {
			p.Since = now
		}
	})
}

// Resume takes back a Pause and a Drain.
func (n *Node) Resume(ctx context.Context) error {
	return n.amend(ctx, func(p *owner.Pause) { *p = owner.Pause{} })
}

func (n *Node) amend(ctx context.Context, change func(*owner.Pause)) error {
	value, err := json.Marshal(n.monitor.Amend(change))
	if err != nil {
		return err
	}
	if e := n.do(ctx, func() {
		err = n.store.commit(context.WithoutCancel(ctx), []message.Persist{{Key: pauseKey, Value: value}})
	}); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("keeping the owner's word: %w", err)
	}
	return nil
}

func (n *Node) loadPause(ctx context.Context) (p owner.Pause, err error) {
	pairs, err := n.store.load(ctx, "", "n/")
	if err != nil || pairs[pauseKey] == nil {
		return p, err
	}
	if err := json.Unmarshal(pairs[pauseKey], &p); err != nil {
		n.log.Warn("the owner's last word cannot be read: nothing runs until `godwit resume`", "err", err)
		return owner.Pause{On: true, Since: n.clock.started}, nil
	}
	return p, nil
}

// Examine checks what the owner's rules rest on.
func (n *Node) Examine() []owner.Finding {
	return n.monitor.Examine(n.exec.Runner.Caps())
}
