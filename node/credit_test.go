package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/p2p"
	"godwit/task"
)

// credit is what a peer's machine gave.
func (p *peer) credit() Credit {
	p.s.t.Helper()
	c, err := p.Credit(context.Background(), 7)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return c
}

// What machines were thanked for is what they ran for others, also when one is started anew meanwhile, and the
// table that any of them makes says the same.
func TestThanksReachWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		const each = 24
		var own uint64 // tasks that a submitter's own machine ran
		ran := map[task.PeerID]uint64{}
		count := func(from *peer, id task.JobID) {
			for _, r := range from.finish(id, each) {
				if w := r.Results[0].Worker; w == from.ID() {
					own++
				} else {
					ran[w]++
				}
			}
		}
		a, b, away := s.peers[1], s.peers[2], s.peers[3]
		first, second := a.submit(each, time.Second), b.submit(each, time.Second)
		count(a, first)
		count(b, second)
		away.stop()
		time.Sleep(time.Minute)
		away.start()
		s.gather(s.peers...)
		third := a.submit(each, time.Second)
		count(a, third)
		b.stop() // says at its end what it has not said yet
		b.start()
		s.gather(s.peers...)
		s.until("all are thanked", func() bool {
			time.Sleep(20 * time.Second)
			for _, p := range s.peers {
				if p.credit().Total.Tasks != ran[p.ID()] {
					return false
				}
			}
			return true
		})
		c := a.credit()
		if c.Today.Tasks != ran[a.ID()] || len(c.Days) != 1 || len(c.Projects) == 0 || c.Projects[0].Project != "sleep" {
			t.Errorf("%+v, want %d tasks", c, ran[a.ID()])
		}
		if g := a.status().Given; g.Tasks != ran[a.ID()] || len(g.For) != 1 {
			t.Errorf("its status says %+v", g)
		}
		b.onLoop(t, func() {
			b.thankful.patrons()
			if work := b.thankful.got.Patrons().Work(a.ID()); work < time.Second {
				t.Errorf("it measured %v of work for another, over a restart", work)
			}
		})
		table, err := s.peers[0].PoolCredit(context.Background(), DefaultOverlay, 7)
		if err != nil {
			t.Fatal(err)
		}
		var sum uint64
		for _, r := range table.Rows {
			if sum += r.Tasks; r.Tasks != ran[r.Worker] {
				t.Errorf("by the table %s gave %d tasks, want %d", shortPeer(r.Worker), r.Tasks, ran[r.Worker])
			}
		}
		if table.Answered != 4 || table.Members != 4 || sum+own != 3*each {
			t.Errorf("%+v: %d tasks for others, %d for themselves", table, sum, own)
		}
	})
}

// What is no thanks of who brings it, to who gets it, for what it did, changes nothing.
func TestForgedThanksAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		worker, patron, liar := s.peers[0], s.peers[1], s.peers[2]
		id := patron.submit(12, time.Second)
		patron.finish(id, 12)
		s.until("the worker is thanked", func() bool {
			time.Sleep(10 * time.Second)
			return worker.credit().Total.Tasks > 0
		})
		before := worker.credit().Total
		now := time.Now()
		of := func(submitter, to *peer, edit func(*task.Thanks)) []byte {
			h := &task.Thanks{Overlay: string(commons), Submitter: submitter.ID(), Worker: to.ID(), Day: task.DayOf(now),
				Issued: now.Unix() + 1, Given: []task.Given{{Project: "forged", Tasks: 1000, CPU: time.Hour}}}
			if edit != nil {
				edit(h)
			}
			b, err := h.Sign(submitter.key)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for name, c := range map[string]struct {
			by   *peer
			body []byte
			why  string
		}{
			"by a stranger":      {liar, of(liar, worker, nil), "nothing ran here"},
			"brought by another": {liar, of(patron, worker, nil), "brought by another"},
			"to another":         {patron, of(patron, liar, nil), "somebody else"},
			"too much": {patron, of(patron, worker, func(h *task.Thanks) { h.Given[0].CPU = 49 * time.Hour }),
				"more than"},
			"replayed": {patron, of(patron, worker, func(h *task.Thanks) { h.Issued = 1 + h.Day*86_400 }), "old"},
			"another overlay": {patron, of(patron, worker, func(h *task.Thanks) { h.Overlay = string(task.RawCID(nil)) }),
				"member"},
			"no thanks": {patron, []byte("thank you"), "reading thanks"},
		} {
			_, err := c.by.net.Request(context.Background(), worker.ID(), methodThanks, c.body)
			var refused *p2p.RemoteError
			if !errors.As(err, &refused) || !strings.Contains(refused.Text, c.why) {
				t.Errorf("%s: %v, want a word of %q", name, err, c.why)
			}
		}
		if after := worker.credit().Total; after != before {
			t.Errorf("the worker was thanked for %+v, now for %+v", before, after)
		}
	})
}

// FuzzReadCredit: what a member shows is refused or is thanks to that member that are well signed.
func FuzzReadCredit(f *testing.F) {
	q := creditQuery{Overlay: commons, Since: 3}
	worker := task.PeerIDOf(testKey(2).Public().(ed25519.PublicKey))
	f.Add([]byte(`{"name":"a","thanks":["AA=="],"more":true}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, all, err := readCredit(b, q, worker, time.Unix(1<<31, 0))
		if err == nil && len(all) != len(a.Thanks) {
			t.Errorf("%d thanks of %d", len(all), len(a.Thanks))
		}
		for _, h := range all {
			if h.Worker != worker || h.Day < q.Since || h.Overlay != string(commons) {
				t.Errorf("read %+v", h)
			}
		}
	})
}

// A table of a large pool has this node and a sample of all others, not the keys that sort first.
func TestCreditSample(t *testing.T) {
	asked := map[task.PeerID]bool{}
	for range 200 {
		var peers []task.PeerID
		for i := range 2 * creditMembers {
			peers = append(peers, task.PeerID(fmt.Sprintf("%04d", i)))
		}
		got := creditSample("1000", peers)
		if len(got) != creditMembers || got[0] != "1000" {
			t.Fatalf("%d are asked, first %s", len(got), got[0])
		}
		for _, p := range got {
			asked[p] = true
		}
	}
	if len(asked) != 2*creditMembers {
		t.Errorf("%d of %d members are ever asked", len(asked), 2*creditMembers)
	}
}
