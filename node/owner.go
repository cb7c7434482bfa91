package node

import (
	"context"
	"encoding/json"
	"errors"
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
type rater interface {
	SetRates(up, down int64)
	SetRelayed(perDay int64)
}

// A lending is what the machine's owner lends, and what follows where he takes it
// back. The loop owns it.
type lending struct {
	*driver
	past     *past
	monitor  *owner.Monitor // whose methods may be called from any goroutine
	owner    message.OwnerState
	decision owner.Decision // that owner rests on
	measure  time.Time      // when to look next at what tasks hold; zero where none may run
	beyond   int64          // bytes that they held beyond what their jobs ask for, in steps
	load     load
	moveAt   time.Time     // when stopped tasks are to go on elsewhere; zero for never
	movedOut bool          // that time has come, and they stand still yet
	weights  []owner.Share // of the owner's rules, which win over memberships' own
}

// askOwner reads the rules and the owner's last word, and takes the first
// decision: nothing has run before.
func (l *lending) askOwner(ctx context.Context) error {
	pause, err := l.loadPause(ctx)
	if err != nil {
		return err
	}
	usual := owner.Everything()
	usual.NoPriorityChange = true // only tests and experiments have no file
	cfg := owner.Config{
		File: l.cfg.RulesFile, Rules: usual, Pause: pause, Log: l.log,
		Machine: owner.Machine{Cores: l.cfg.Cores, Memory: totalMemory(), Lent: l.cfg.Memory},
		Stop:    func() { exec.Pause(l.exec) }, Continue: func() { exec.Resume(l.exec) },
		Changed: func(d owner.Decision) { l.post(post{call: func() { l.decided(d) }}) },
		Shared:  func(s []owner.Share) { l.post(post{call: func() { l.reweigh(s) }}) },
	}
	if cfg.File == "" {
		cfg.Sensors = []sensor.Sensor{}
	} else if u, err := disks.Usage(l.cfg.DataDir); err == nil {
		cfg.Machine.Disk = int64(u.Total)
		cfg.Sensors = append(sensor.System(), sensor.DataDir{Dir: l.cfg.DataDir})
	}
	if l.cfg.Experiment.Replay != nil {
		cfg.Sensors = []sensor.Sensor{owner.Replay{History: l.cfg.Experiment.Replay}}
	}
	if l.monitor, err = owner.NewMonitor(cfg); err != nil {
		return fmt.Errorf("reading the owner's rules: %w", err)
	}
	l.exec.Runner.Obey(l.rules)
	rules, _ := l.monitor.Rules()
	l.weights = rules.Overlays
	l.decided(l.monitor.Decision())
	return nil
}

// decided obeys the owner, on the loop. Tasks have been stopped already.
func (l *lending) decided(d owner.Decision) {
	before := l.decision
	l.decision, l.moveAt = d, d.MoveAt
	l.content.room.budget.SetMost(d.Disk)
	if l.movedOut = l.movedOut && d.Stop; l.movedOut {
		l.moveAt = time.Time{}
	}
	l.exec.Lend(d)
	if r, ok := l.net.(rater); ok {
		r.SetRates(d.Upload, d.Download)
		r.SetRelayed(d.Relay)
	}
	s := message.OwnerState{State: d.State, Slots: d.Cores, Memory: l.memoryLeft(), Reason: d.Reason, Until: d.Until}
	if s == l.owner {
		l.lend()
		return
	}
	l.owner = s
	if d.Rule != before.Rule || d.State != before.State {
		l.log.Info("the owner's rules", "state", d.State, "rule", d.Rule, "sensor", d.Sensor, "reason", d.Reason)
	}
	l.past.noteState(d.State, min(1, float64(d.Cores)/float64(max(1, l.cfg.Cores))), l.now())
	if s.Slots == 0 {
		l.exec.Drop(func(exec.Client) bool { return true })
	}
	l.lend()
	l.exec.Fit()
}

// reweigh takes over the shares of the owner's rules, on the loop.
func (l *lending) reweigh(shares []owner.Share) {
	l.weights = shares
	l.exec.Drop(func(of exec.Client) bool { return of.(client).m.weight() == 0 })
	l.take(l.peer.Settle(l.now()))
}

// moveRetry is how often tasks that cannot be saved, and that nobody else could
// take, are offered again.
const moveRetry = time.Minute

// moveIfDue has stopped tasks go on elsewhere when their grace has passed. Where
// there is no elsewhere they are saved all the same, to wait with the leader: the
// owner's memory is free then, and they go on wherever there is room, be it here.
func (l *lending) moveIfDue(now time.Time) {
	if l.moveAt.IsZero() || l.moveAt.After(now) {
		return
	}
	l.moveAt = time.Time{}
	if l.decision.Rule == owner.RuleDrain { // what the leader finds no place for ends here
		return
	}
	elsewhere := l.peer.OthersWork()
	l.movedOut = l.decision.Stop
	l.lend()
	stay, leave := l.exec.MoveOut(elsewhere, l.owner.Reason)
	switch {
	case l.decision.Rule != owner.RuleGoing:
		if stay > 0 {
			l.moveAt = now.Add(moveRetry)
		}
	case leave == 0 && stay > 0:
		l.monitor.Release()
	default:
		until := l.decision.Until
		l.spawn(func() { l.releaseWhenMoved(until, stay) })
	}
}

// releaseWhenMoved lets the machine go once no task runs here but those that stay,
// or just before the system would go anyway.
func (l *lending) releaseWhenMoved(until time.Time, stay int) {
	const look = 20 * time.Millisecond
	defer l.monitor.Release()
	t := time.NewTicker(look)
	defer t.Stop()
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	for ctx.Err() == nil {
		left := 0
		if l.do(ctx, func() { left = l.exec.Count() }) != nil || left <= stay {
			return
		}
		<-t.C
	}
}

// Pause stops all tasks at once, for d or, where that is 0, until Resume. The
// owner's word is durable when Pause returns.
func (l *lending) Pause(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("cannot pause for %v", d)
	}
	now := time.Now().Round(0) // by the wall clock: it outlives the node
	return l.amend(ctx, func(p *owner.Pause) {
		p.On, p.Since, p.Until = true, now, time.Time{}
		if d > 0 {
			p.Until = now.Add(d)
		}
	})
}

// Drain has the node take nothing new and what runs move to others, until Resume.
// The owner's word is durable when Drain returns; what is left then Status tells.
func (l *lending) Drain(ctx context.Context) error {
	now := time.Now().Round(0)
	return l.amend(ctx, func(p *owner.Pause) {
		if p.Drain = true; !p.On {
			p.Since = now
		}
	})
}

// Resume takes back a Pause and a Drain.
func (l *lending) Resume(ctx context.Context) error {
	return l.amend(ctx, func(p *owner.Pause) { *p = owner.Pause{} })
}

func (l *lending) amend(ctx context.Context, change func(*owner.Pause)) error {
	value, err := json.Marshal(l.monitor.Amend(change))
	if err != nil {
		return err
	}
	if e := l.do(ctx, func() {
		err = l.store.commit(context.WithoutCancel(ctx), []message.Persist{{Key: pauseKey, Value: value}})
	}); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("keeping the owner's word: %w", err)
	}
	return nil
}

func (l *lending) loadPause(ctx context.Context) (p owner.Pause, err error) {
	pairs, err := l.store.load(ctx, "", "n/")
	if err != nil || pairs[pauseKey] == nil {
		return p, err
	}
	if err := json.Unmarshal(pairs[pauseKey], &p); err != nil {
		l.log.Warn("the owner's last word cannot be read: nothing runs until `godwit resume`", "err", err)
		return owner.Pause{On: true, Since: l.clock.started}, nil
	}
	return p, nil
}

// sensed checks what the owner's rules rest on.
func (l *lending) sensed() []owner.Finding { return l.monitor.Examine(l.exec.Runner.Caps()) }

// rules returns the owner's rules in force.
func (l *lending) rules() owner.Rules {
	rules, _ := l.monitor.Rules()
	return rules
}

// ErrNoRules is returned by a node that runs by no file of rules, such as one of an experiment.
var ErrNoRules = errors.New("node: it runs by no file of rules")

// Rules returns the owner's rules in force and the file that they are in, "" for none.
func (l *lending) Rules() (owner.Rules, string) {
	return l.rules(), l.cfg.RulesFile
}

// SetRule changes one rule in the owner's file, as owner.Set does. The node obeys within a second.
func (l *lending) SetRule(key, value string) error {
	if l.cfg.RulesFile == "" {
		return ErrNoRules
	}
	return owner.Set(l.cfg.RulesFile, key, value, Machine())
}
