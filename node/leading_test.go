package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"godwit/task"
)

// A leadBook writes down who followed whom, and when, and tells afterwards how
// long nobody led.
type leadBook struct {
	ids []task.PeerID // of the hosts

	mu       sync.Mutex
	notes    []leadNote
	warnings map[string]int // what nodes logged as a warning or worse, and how often
}

// A leadNote is one thing that happened to a host.
type leadNote struct {
	at     time.Time
	host   int
	kind   leadKind
	leader task.PeerID // whom the host follows from now on; of follows
}

type leadKind int

const (
	begins  leadKind = iota // the node runs
	follows                 // it has another leader, or none
	goodbye                 // it was told to stop
	stopped                 // it runs no longer, after a goodbye
	crashed                 // it runs no longer, without one
	inUse                   // its owner is back
	idle                    // its owner has left
	settles                 // it has run for as long as finding the leader may take
)

func (k leadKind) String() string {
	return [...]string{"starts", "follows", "says goodbye", "has stopped", "crashed", "is in use", "is idle", "settles"}[k]
}

// settleTime is how long a node that has started may be without a leader before
// that counts: as long as a new group may take if all of the old one crash.
const settleTime = 15 * time.Second

func (b *leadBook) note(host int, kind leadKind, leader task.PeerID) {
	b.add(leadNote{time.Now(), host, kind, leader})
}

func (b *leadBook) add(e leadNote) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, e)
	if e.kind == begins {
		b.notes = append(b.notes, leadNote{e.at.Add(settleTime), e.host, settles, ""})
	}
}

// A leadLog is a node's log, of which the book keeps what is said of leaders.
type leadLog struct {
	book *leadBook
	host int
}

func (leadLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (l leadLog) WithAttrs([]slog.Attr) slog.Handler         { return l }
func (l leadLog) WithGroup(string) slog.Handler              { return l }

// Handle implements slog.Handler, on the node's loop.
func (l leadLog) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		var attrs []string
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "err" {
				attrs = append(attrs, a.Value.String())
			}
			return true
		})
		l.book.mu.Lock()
		defer l.book.mu.Unlock()
		l.book.warnings[strings.Join(append([]string{r.Message}, attrs...), ": ")]++
		return nil
	}
	if r.Message == "leader" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "peer" {
				l.book.note(l.host, follows, a.Value.Any().(task.PeerID))
			}
			return true
		})
	}
	return nil
}

// A leadReport says how an overlay was led.
type leadReport struct {
	watched    time.Duration   // with at least one node that had settled
	leaderless []time.Duration // while no leader that ran had most of the settled nodes
	nobody     []time.Duration // while no node led even by its own word
	longest    time.Time       // when the longest time without a leader began
	changes    map[string][]time.Duration
	alone      int // leaders that went when nobody else was there
}

// The ways in which a leader is replaced.
const (
	byCrash   = "takeovers after a crash"
	byGoodbye = "handovers at a goodbye"
	byOwner   = "handovers at the owner's return"
	byItself  = "handovers for another reason"
)

// A leadState is the state of all hosts at a time.
type leadState struct {
	nodes  []leadNode
	number map[task.PeerID]int
}

type leadNode struct {
	runs, leaving, settled bool
	since                  time.Time // runs
	follows                task.PeerID
}

// led returns the host that leads: it runs, says so itself and most of the nodes
// that have settled follow it; -1 for none. Settled says how many those are, and
// claimed whether any node leads by its own word.
func (s *leadState) led() (leader, settled int, claimed bool) {
	votes := make([]int, len(s.nodes))
	for i := range s.nodes {
		n := &s.nodes[i]
		of, known := s.number[n.follows]
		claimed = claimed || n.runs && known && of == i
		if !n.runs || n.leaving || !n.settled {
			continue
		}
		settled++
		if known {
			votes[of]++
		}
	}
	for i, v := range votes {
		n := &s.nodes[i]
		if n.runs && s.number[n.follows] == i && n.follows != "" && 2*v > settled {
			return i, settled, claimed
		}
	}
	return -1, settled, claimed
}

func (s *leadState) apply(e leadNote) {
	n := &s.nodes[e.host]
	switch e.kind {
	case begins:
		*n = leadNode{runs: true, since: e.at}
	case follows:
		n.follows = e.leader
		n.settled = n.settled || e.leader != ""
	case settles:
		n.settled = n.settled || n.runs && e.at.Sub(n.since) >= settleTime // not of a run before
	case goodbye:
		n.leaving = true
	case stopped, crashed:
		*n = leadNode{}
	}
}

// report tells how the overlay was led until end.
func (b *leadBook) report(end time.Time) leadReport {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := slices.Clone(b.notes)
	slices.SortStableFunc(notes, func(a, b leadNote) int { return a.at.Compare(b.at) })
	r := leadReport{changes: map[string][]time.Duration{}}
	s := leadState{nodes: make([]leadNode, len(b.ids)), number: map[task.PeerID]int{}}
	for i, id := range b.ids {
		s.number[id] = i
	}
	var noLeader, noClaim span
	last, since, why := -1, time.Time{}, "" // who led last, and since when it is to be replaced
	for i, e := range notes {
		if e.at.After(end) {
			break
		}
		led, _, _ := s.led()
		if led == e.host {
			switch {
			case e.kind == crashed:
				since, why = e.at, byCrash
			case e.kind == goodbye:
				since, why = e.at, byGoodbye
			case e.kind == inUse && why == "":
				since, why = e.at, byOwner
			case e.kind == idle && why == byOwner:
				why = "" // back before it had found another
			}
		}
		s.apply(e)
		next := end
		if i+1 < len(notes) && notes[i+1].at.Before(end) {
			next = notes[i+1].at
		}
		led, settled, claimed := s.led()
		if settled > 0 {
			r.watched += next.Sub(e.at)
		} else if why != "" {
			why, last = "", -1
			r.alone++
		}
		if noLeader.set(settled > 0 && led < 0, e.at, &r.leaderless) {
			r.longest = noLeader.longest
		}
		noClaim.set(settled > 0 && !claimed, e.at, &r.nobody)
		if led >= 0 && led != last {
			switch {
			case why != "":
				r.changes[why] = append(r.changes[why], e.at.Sub(since))
			case last >= 0:
				r.changes[byItself] = append(r.changes[byItself], 0)
			}
			last, why = led, ""
		}
	}
	noLeader.set(false, end, &r.leaderless)
	noClaim.set(false, end, &r.nobody)
	return r
}

// A span is a time that something lasts.
type span struct {
	on      bool
	from    time.Time
	most    time.Duration
	longest time.Time // when the longest so far began
}

// set says whether the thing is so from a time on, adds its length to out where it
// has ended, and returns whether that was the longest so far.
func (s *span) set(on bool, at time.Time, out *[]time.Duration) bool {
	switch {
	case on && !s.on:
		s.from = at
	case !on && s.on && at.After(s.from):
		took := at.Sub(s.from)
		*out = append(*out, took)
		if took > s.most {
			s.most, s.longest, s.on = took, s.from, on
			return true
		}
	}
	s.on = on
	return false
}

// story tells what happened from a time to another, in times since the first note.
func (b *leadBook) story(from, to time.Time) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, e := range b.notes {
		if e.at.Before(from) || e.at.After(to) {
			continue
		}
		line := fmt.Sprintf("%v: host %d %s", e.at.Sub(b.notes[0].at), e.host, e.kind)
		if e.kind == follows {
			line += fmt.Sprintf(" host %d", slices.Index(b.ids, e.leader))
		}
		out = append(out, line)
	}
	return out
}

// String is for a person.
func (r leadReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "without a leader that most follow: %s of %v\n", times(r.leaderless), r.watched.Round(time.Second))
	fmt.Fprintf(&b, "without anybody that leads: %s\n", times(r.nobody))
	for _, what := range []string{byCrash, byGoodbye, byOwner, byItself} {
		fmt.Fprintf(&b, "%s: %s\n", what, times(r.changes[what]))
	}
	fmt.Fprintf(&b, "leaders that went with nobody left: %d\n", r.alone)
	return b.String()
}

// times describes durations: how many, and the median and the longest of them.
func times(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	sorted := slices.SortedFunc(slices.Values(all), cmp.Compare)
	var sum time.Duration
	for _, d := range sorted {
		sum += d
	}
	return fmt.Sprintf("%d, median %v, longest %v, together %v", len(sorted),
		sorted[len(sorted)/2].Round(time.Millisecond),
		sorted[len(sorted)-1].Round(time.Millisecond), sum.Round(time.Millisecond))
}
