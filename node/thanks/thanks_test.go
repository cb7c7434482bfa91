package thanks

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func peer(seed byte) task.PeerID { return task.PeerIDOf(key(seed).Public().(ed25519.PublicKey)) }

var lab = string(task.RawCID([]byte("lab")))

// noon is in the middle of a day.
var noon = time.Unix(20_000*86_400+43_200, 0)

func gift(worker byte, project string, tasks uint64, cpu time.Duration) task.Gift {
	return task.Gift{Worker: peer(worker), Given: task.Given{Project: project, Tasks: tasks, CPU: cpu}}
}

// opened has thanks go over the wire.
func opened(t interface{ Fatal(...any) }, h *task.Thanks, from ed25519.PrivateKey) Note {
	b, err := h.Sign(from)
	if err != nil {
		t.Fatal(err)
	}
	o, err := task.OpenThanks(b)
	if err != nil {
		t.Fatal(err)
	}
	return Note{o, b}
}

// Two submitters and three workers, whose thanks are late, lost, repeated and overtaken by others, and who are started
// anew meanwhile: what workers were thanked for is in the end what they gave, to the task, and nobody's own work is
// in it.
func TestCreditAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		owed := map[byte]*Owed{1: NewOwed(peer(1)), 2: NewOwed(peer(2))}
		got := map[byte]*Got{}
		for w := byte(1); w <= 4; w++ { // 1 submits, and works for 2
			got[w] = NewGot(peer(w), 64)
			got[w].Ran(peer(1), 0)
			got[w].Ran(peer(2), 0)
		}
		want := map[task.PeerID]uint64{}
		var sent []Note // that may come again
		take := func(n Note) bool {
			for w := range got {
				if peer(w) == n.Worker {
					_, err := got[w].Take(n, now)
					return err == nil
				}
			}
			return false
		}
		deliver := func(s byte, lossy bool) {
			for _, h := range owed[s].Due(now, 100) {
				n := opened(t, h, key(s))
				sent = append(sent, n)
				heard := (!lossy || rapid.Bool().Draw(t, "heard")) && take(n)
				owed[s].Told(h, heard, now)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := rapid.SampledFrom([]byte{1, 2}).Draw(t, "submitter")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				w := rapid.SampledFrom([]byte{1, 2, 3, 4}).Draw(t, "worker")
				n := uint64(rapid.IntRange(1, 9).Draw(t, "tasks"))
				project := fmt.Sprint(rapid.IntRange(0, 2*task.MaxProjects).Draw(t, "project"))
				owed[s].Add(lab, gift(w, project, n, time.Second), now)
				if w != s {
					want[peer(w)] += n
				}
			case 2:
				deliver(s, true)
			case 3: // started anew on what was kept
				again := NewOwed(peer(s))
				for name, p := range owed[s].pages {
					if len(p.given) > 0 {
						p.issued = max(now.Unix(), p.issued+1)
						again.Restore(owed[s].thanks(name, p), p.since.IsZero(), now)
					}
				}
				owed[s] = again
			case 4:
				if len(sent) > 0 {
					take(rapid.SampledFrom(sent).Draw(t, "again"))
				}
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "passes")) * time.Second)
		}
		for range 3 {
			now = now.Add(2 * mostPause)
			deliver(1, false)
			deliver(2, false)
		}
		var all []*task.Thanks
		for w, g := range got {
			if sum := Sum(g.Since("", 0)); sum.Tasks != want[peer(w)] {
				t.Fatalf("worker %d was thanked for %d tasks, and gave %d", w, sum.Tasks, want[peer(w)])
			}
			for _, n := range g.Since(lab, 0) {
				all = append(all, n.Thanks)
			}
		}
		for _, n := range sent { // somebody collects older ones as well
			all = append(all, n.Thanks)
		}
		rows := Table(all, func(task.PeerID) int { return 64 })
		for _, r := range rows {
			if r.Tasks != want[r.Worker] {
				t.Fatalf("by the table %s gave %d tasks, not %d", r.Worker, r.Tasks, want[r.Worker])
			}
		}
	})
}

// What is no thanks to this worker for what it did is not taken in.
func TestNotTaken(t *testing.T) {
	g := NewGot(peer(3), 4)
	g.Ran(peer(1), 0)
	of := func(submitter, worker byte, edit func(*task.Thanks)) Note {
		h := &task.Thanks{Overlay: lab, Submitter: peer(submitter), Worker: peer(worker), Day: 20_000, Issued: noon.Unix(),
			Given: []task.Given{{Tasks: 3, CPU: time.Hour}}}
		if edit != nil {
			edit(h)
		}
		return opened(t, h, key(submitter))
	}
	if _, err := g.Take(of(1, 3, nil), noon); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		note Note
		want error
	}{
		"another worker":   {of(1, 2, nil), ErrNotOurs},
		"a stranger":       {of(2, 3, nil), ErrStranger},
		"replayed":         {of(1, 3, nil), ErrOld},
		"less than before": {of(1, 3, func(h *task.Thanks) { h.Issued--; h.Given[0].Tasks = 1 }), ErrOld},
		"long past":        {of(1, 3, func(h *task.Thanks) { h.Day -= GotFor + 1 }), ErrOld},
		"too much":         {of(1, 3, func(h *task.Thanks) { h.Issued++; h.Given[0].CPU = 4*task.Day + 1 }), ErrTooMuch},
		"the future":       {of(1, 3, func(h *task.Thanks) { h.Issued += 3600 }), nil},
	} {
		if _, err := g.Take(c.note, noon); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if sum := Sum(g.Since("", 0)); sum.Tasks != 3 || sum.CPU != time.Hour {
		t.Errorf("in the end %+v", sum)
	}
	for of, want := range map[byte]bool{3: false, 1: false, 2: true} {
		if _, changed := g.Ran(peer(of), 0); changed != want {
			t.Errorf("a job for %d changed the patrons: %v", of, changed)
		}
	}
	if all := g.Patrons().All(); len(all) != 2 {
		t.Errorf("it ran jobs for %v", all)
	}
}

// A submitter that credits its own keys says so itself: they stand in the table with one submitter, and nobody's
// day is longer than its cores make it.
func TestOwnKeys(t *testing.T) {
	var all []*task.Thanks
	for own := byte(10); own < 13; own++ {
		all = append(all, &task.Thanks{Overlay: lab, Submitter: peer(1), Worker: peer(own), Day: 1, Issued: 90_000,
			Given: []task.Given{{Tasks: 1, CPU: 1000 * task.Day}}})
	}
	for by := byte(1); by <= 2; by++ {
		all = append(all, &task.Thanks{Overlay: lab, Submitter: peer(by), Worker: peer(3), Day: 1, Issued: 90_000,
			Given: []task.Given{{Tasks: 5, CPU: 20 * time.Hour}}})
	}
	rows := Table(all, func(task.PeerID) int { return 1 })
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		want := 1
		if r.Worker == peer(3) {
			want = 2
		}
		if r.CPU != task.Day || r.Submitters != want || r.Days != 1 {
			t.Errorf("%+v: want a day, by %d submitters", r, want)
		}
	}
}

// What is owed and what was got stay within their bounds, and the latest stays.
func TestBounds(t *testing.T) {
	o := NewOwed(peer(1))
	for i := range MostOwed + 10 {
		o.Add(lab, task.Gift{Worker: task.PeerID(fmt.Sprint(i)), Given: task.Given{Tasks: 1}}, noon)
	}
	if len(o.pages) != MostOwed {
		t.Errorf("%d pages", len(o.pages))
	}
	if due := o.Due(noon, 10); len(due) != 10 {
		t.Errorf("%d due, of at most 10", len(due))
	}
	g := NewGot(peer(3), 1)
	g.Ran(peer(1), 0)
	for day := range int64(GotFor + 20) {
		h := &task.Thanks{Overlay: lab, Submitter: peer(1), Worker: peer(3), Day: day, Issued: day * 86_400,
			Given: []task.Given{{Tasks: 1}}}
		if _, err := g.Take(Note{Thanks: h}, time.Unix(day*86_400, 0)); err != nil {
			t.Fatal(err)
		}
	}
	days := g.Since("", 0)
	if len(days) != GotFor+1 || days[0].Day != GotFor+19 || !slices.IsSortedFunc(days, func(a, b Note) int {
		return int(b.Day - a.Day)
	}) {
		t.Errorf("%d days are kept, from %d", len(days), days[0].Day)
	}
	by := Projects(days)
	if len(by) != 1 || by[0].Tasks != GotFor+1 || by[0].Submitter != peer(1) {
		t.Errorf("by project %+v", by)
	}
}
