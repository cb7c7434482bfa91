package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

// A relayWeek has real hosts stand for election: their records, as they would
// gossip them, at every hour of a week that follows weeks of watching.
type relayWeek struct {
	histories []*trace.History
	blends    []predictor.Blend
	next      []int // spell to tell
	pool      *predictor.Pool
	start     time.Time
}

const (
	weekHosts  = 300
	watchedFor = 28 * 24 * time.Hour
)

func newRelayWeek(t *testing.T) *relayWeek {
	name := filepath.Join("..", "..", "shared", "data", "relays", "sessions.csv.gz")
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no records in ../shared/data, seen from the project's root")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := trace.Read(name, f, trace.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := &relayWeek{pool: &predictor.Pool{}, start: set.Start.Add(watchedFor)}
	for i := 0; i < len(set.Hosts) && len(w.histories) < weekHosts; i += 7 {
		w.histories = append(w.histories, set.Hosts[i].History)
		w.blends = append(w.blends, predictor.NewBlend(w.pool))
	}
	w.next = make([]int, len(w.histories))
	for at := set.Start; !at.After(w.start); at = at.Add(24 * time.Hour) {
		w.advance(at)
	}
	return w
}

// advance tells every host's recorder of what happened until now, and gossips.
func (w *relayWeek) advance(now time.Time) {
	var records []predictor.Record
	for i, h := range w.histories {
		for ; w.next[i] < h.Len() && !h.Spell(w.next[i]).Start.After(now); w.next[i]++ {
			s := h.Spell(w.next[i])
			if s.State == trace.Unobserved {
				predictor.Blind(w.blends[i], s.Start)
				continue
			}
			w.blends[i].Observe(s.Start, s.State)
		}
		if w.next[i] > 0 {
			w.blends[i].Tick(now)
			records = append(records, w.blends[i].Record())
		}
	}
	w.pool.Renew(records)
}

// adverts are those of the hosts that are there at now.
func (w *relayWeek) adverts(t *testing.T, now time.Time) []Advert {
	var out []Advert
	for i, h := range w.histories {
		k := h.Find(now)
		if k < 0 || h.Spell(k).State != trace.Available {
			continue
		}
		r := w.blends[i].Record()
		b, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Advert{Peer: task.PeerID(h.Host), Reach: ReachPublic, State: Available, Record: b})
	}
	return out
}

// changes counts how groups changed: in all, and where somebody had left.
type changes struct {
	leader, leaderLeft int
	places, placesLeft int
}

func (c *changes) count(before, after []task.PeerID, there func(task.PeerID) bool) {
	if len(before) == 0 {
		return
	}
	if len(after) == 0 || before[0] != after[0] {
		c.leader++
		if !there(before[0]) {
			c.leaderLeft++
		}
	}
	for _, p := range before {
		if slices.Contains(after, p) {
			continue
		}
		c.places++
		if !there(p) {
			c.placesLeft++
		}
	}
}

// flaps are the changes a day that no departure asked for.
func (c *changes) flaps(days float64) (leader, places float64) {
	return float64(c.leader-c.leaderLeft) / days, float64(c.places-c.placesLeft) / days
}

func (c *changes) log(t *testing.T, name string, days float64) {
	leader, places := c.flaps(days)
	t.Logf("%s: a day, the leader changes %.3f times (%.3f where it had left, %.3f flaps), a place %.3f (%.3f, %.3f)",
		name,
		float64(c.leader)/days, float64(c.leaderLeft)/days, leader, float64(c.places)/days, float64(c.placesLeft)/days,
		places)
}

// TestWeekOfRelays: over a week of real hosts' comings and goings, looked at
// each hour, next to no change of leader or of group is one that nobody's
// departure asked for, in overlays of all the hosts and in overlays of a dozen.
func TestWeekOfRelays(t *testing.T) {
	const hours, overlays = 7 * 24, 12
	w := newRelayWeek(t)
	sizes := []struct {
		name string
		part uint64 // one in so many hosts is a member
		// The most flaps a day that are borne: one or two in the 84 days more
		// than were measured, for machines whose floating point rounds otherwise.
		leader, places float64
		levels         [overlays]Levels
		kept, anew     [overlays][]task.PeerID
		sticky, plain  changes
	}{
		{name: "all", part: 1, leader: .02, places: .03},
		{name: "a dozen", part: 20, leader: .02, places: .03},
	}
	for h := range hours {
		now := w.start.Add(time.Duration(h) * time.Hour)
		w.advance(now)
		adverts := w.adverts(t, now)
		forecasts := map[task.PeerID]Forecast{}
		for i := range adverts {
			forecasts[adverts[i].Peer] = ForecastOf(&adverts[i], w.pool, now)
		}
		there := func(p task.PeerID) bool { _, ok := forecasts[p]; return ok }
		for k := range sizes {
			s := &sizes[k]
			for i := range overlays {
				name := ID(fmt.Sprint("overlay ", i))
				members := adverts
				if s.part > 1 {
					members = slices.DeleteFunc(slices.Clone(adverts), func(a Advert) bool { return race(name, a.Peer)%s.part != 0 })
				}
				candidates := s.levels[i].Candidates(members, forecasts, now)
				after := Regroup(name, s.kept[i], candidates, GroupSize)
				s.sticky.count(s.kept[i], after, there)
				s.kept[i] = after
				after = Group(name, candidates, GroupSize)
				s.plain.count(s.anew[i], after, there)
				s.anew[i] = after
			}
		}
	}
	const days = overlays * hours / 24
	for k := range sizes {
		s := &sizes[k]
		s.plain.log(t, s.name+", drawn anew", days)
		s.sticky.log(t, s.name+", kept", days)
		if leader, places := s.sticky.flaps(days); leader > s.leader || places > s.places {
			t.Errorf("%s: %.3f flaps of the leader a day and %.3f of a place, want at most %v and %v", s.name, leader, places,
				s.leader, s.places)
		}
		if s.sticky.leaderLeft == 0 || s.sticky.leaderLeft > s.plain.leaderLeft*2 {
			t.Errorf("%s: %d leaders left, of those drawn anew %d", s.name, s.sticky.leaderLeft, s.plain.leaderLeft)
		}
	}
}
