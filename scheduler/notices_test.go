package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"

	"pgregory.net/rapid"
)

// says has a member tell in which state it is.
func (d *decided) says(peer task.PeerID, seq uint64, state overlay.State, slots int) {
	d.c.Step(d.c.now, message.MemberSeen{Advert: overlay.Advert{Peer: peer, Seq: seq, State: state, Slots: slots,
		Memory: 1 << 30, Speed: 1}})
	d.c.Step(d.c.now, &message.Received{From: peer, Message: &message.Message{Report: &message.Report{Slots: slots,
		State: uint8(state)}}})
}

// noticed are the moves for which a member gave notice.
func (d *decided) noticed(moves []migrate.Move) (out []task.TaskID) {
	for i := range moves {
		if d.c.members.hosts[moves[i].From].notice {
			out = append(out, moves[i].Task)
		}
	}
	return out
}

// Whether the policy is told of all members or only of those that it would look at, the same tasks leave; and on a
// notice those of members on notice leave, though all members were looked at a moment before.
func TestNoticesAlone(t *testing.T) {
	for _, policy := range []string{"reactive", "cost"} {
		t.Run(policy, func(tb *testing.T) {
			alone := 0
			rapid.Check(tb, func(t *rapid.T) {
				d := aNoticed(tb, t, policy)
				m := &d.c.migration
				peers := slices.Sorted(maps.Keys(d.c.members.hosts))
				for seq := range uint64(rapid.IntRange(1, 12).Draw(t, "adverts")) {
					peer := rapid.SampledFrom(peers).Draw(t, "member")
					state := rapid.SampledFrom([]overlay.State{overlay.Available, overlay.UserPresent, overlay.Leaving,
						overlay.CPUBusy}).Draw(t, "state")
					if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
						d.c.Step(d.c.now, message.MemberLost{Peer: peer, Reason: "a test"})
					} else {
						d.says(peer, seq+2, state, rapid.IntRange(0, 1).Draw(t, "slots"))
					}
					var on []*host
					for _, h := range d.c.members.roster.all() {
						if h.notice {
							on = append(on, h)
						}
					}
					if !slices.Equal(on, m.c.members.noticed.all()) {
						t.Fatalf("%d members are noted to be on notice, and %d are", m.c.members.noticed.len(), len(on))
					}
					looked := m.lookedAt(true)
					few := d.noticed(m.chosen(m.scanned(m.c.members.noticed.all())))
					if len(looked) == len(on) {
						alone++
					}
					moves := m.chosen(m.scanned(m.c.members.roster.all()))
					all := d.noticed(moves)
					if !slices.Equal(few, all) || len(looked) == len(on) && len(moves) != len(all) {
						t.Fatalf("of %d members %v leave, of those on notice %v", len(peers), moves, few)
					}
				}
			})
			if alone == 0 {
				tb.Error("the policy was never told of those on notice alone")
			}
		})
	}
}

// aNoticed is a coordinator of some members that run tasks, or are idle where few wait.
func aNoticed(tb *testing.T, t *rapid.T, policy string) *decided {
	d := newDecided(tb, 8, 2, func(c *Config) { c.Migration = policy })
	d.run()
	if rapid.Bool().Draw(t, "room") {
		d.makeRoom()
	}
	d.lengthen()
	if rapid.Bool().Draw(t, "more waits") {
		key, self := schedtest.Identity(0)
		rec := schedtest.Job(tb, key, 3, func(j *task.Job) { j.Nonce[0], j.Memory = 99, task.MaxMemory })
		for _, e := range d.c.Step(d.c.now,
			&message.Received{From: self, Message: &message.Message{Submit: &message.Submit{Record: rec}}}) {
			if f, ok := e.(message.Fetch); ok {
				d.c.Step(d.c.now, message.Fetched{Key: f.Key})
			}
		}
	}
	return d
}

// Why tasks stay is forgotten as if all leases of all members were gone through.
func TestForgetStays(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		d := newDecided(tb, 8, 2, func(c *Config) { c.Migration = "cost" })
		d.run()
		c := d.c
		hosts := c.members.roster.all()
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			h := rapid.SampledFrom(hosts).Draw(t, "member")
			if len(h.leases) > 0 {
				l := h.leases[0]
				switch rapid.IntRange(0, 4).Draw(t, "what") {
				case 0:
					c.migration.stayed(l, "a test", fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "but")))
				case 1:
					l.fixed = !l.fixed
				case 2:
					l.tries.notBefore = c.now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "tried")) * time.Minute)
				case 3:
					l.stay.why = "" // it moves
				case 4:
					c.removeLease(l, "lost", "a test")
				}
			}
			from, want := map[*host]bool{}, map[*lease]string{}
			for _, h := range hosts {
				from[h] = rapid.Bool().Draw(t, "leaves")
				for _, l := range h.leases {
					if want[l] = l.stay.why; !from[h] && l.move == nil && !l.fixed && !c.now.Before(l.tries.notBefore) {
						want[l] = ""
					}
				}
			}
			c.migration.forgetStays(from)
			for l, why := range want {
				if l.stay.why != why || (why != "") != slices.Contains(c.migration.stays, l) {
					t.Fatalf("a task stays for %q, want %q", l.stay.why, why)
				}
			}
			if len(c.migration.stays) > len(want) {
				t.Fatalf("%d leases are kept of %d", len(c.migration.stays), len(want))
			}
		}
	})
}

// BenchmarkNotice is an advert by which a member of many gives notice, or takes it back: while all
// members are busy, and while a quarter is idle.
func BenchmarkNotice(b *testing.B) {
	for _, idle := range []bool{false, true} {
		for _, n := range decidedSizes {
			b.Run(fmt.Sprintf("idle=%v/members=%d", idle, n), func(b *testing.B) {
				d := newDecided(b, n, min(100, n), func(c *Config) { c.Migration = "cost" })
				d.run()
				if idle {
					d.lengthen()
					d.makeRoom()
				}
				peer := d.c.members.roster.all()[n/2].peer
				states := []overlay.State{overlay.Leaving, overlay.Available}
				began, seq := processor(b), uint64(2)
				for b.Loop() {
					d.c.now = d.c.now.Add(10 * time.Millisecond)
					d.c.Step(d.c.now, message.MemberSeen{Advert: overlay.Advert{Peer: peer, Seq: seq, Slots: 1,
						State: states[seq%2], Memory: 1 << 30, Speed: 1}})
					h := d.c.members.hosts[peer]
					h.state = states[seq%2] // it has reported, and is believed
					d.c.migration.heedNotice(h)
					d.c.migration.scanIfDue()
					seq++
				}
				b.ReportMetric((processor(b)-began)*1000/float64(b.N), "cpu-us/op")
			})
		}
	}
}
