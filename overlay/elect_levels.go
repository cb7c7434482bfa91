package overlay

import (
	"bytes"
	"time"

	"godwit/predictor"
	"godwit/task"
)

// ForecastHorizon is how far ahead a member's stay is forecast for its level: a
// coordinator should outlast many hand-overs of work, and the levels of a day
// separate hosts by what they are rather than by the hour.
const ForecastHorizon = 24 * time.Hour

// A leader whose own stay through HandOverHorizon is less likely than
// HandOverBelow hands over while it still can (docs/spec/predictors.md section 5.2).
const (
	HandOverHorizon = 15 * time.Minute
	HandOverBelow   = 0.5
)

// MinUptime is how long a member is to have been available before it stands, as
// long as others do: most hosts that leave at once do so before this.
const MinUptime = 10 * time.Minute

// meetTime is the time in which a member that starts meets the others. Members that it meets in this time count as seen from
// its start. Otherwise, of many members that start together, each would be the only one in its own view that is not Young,
// for as long as it took to meet the rest. All of them could lead then.
const meetTime = time.Minute

// MaxLevel is the level of the members most likely to stay.
const MaxLevel = 3

// bounds are the probabilities of a stay that part level 1 from 2 and 2 from 3.
// A day's losses of a half, and of a tenth.
var bounds = [MaxLevel - 1]float64{.5, .9}

// margins are how far beyond a bound a forecast must be for a level to change:
// about as much as the hour of the day alone moves one. The upper bound has
// less room above it.
var margins = [MaxLevel - 1]float64{.1, .05}

// A Shortfall is what a candidate lacks, the worst in the highest bit.
type Shortfall uint8

// What a candidate can fall short of. One that is not to be dialled is of no
// use to most; one whose machine is in use may be stopped at any time.
const (
	Young       Shortfall = 1 << iota // available for less than MinUptime
	InUse                             // its owner is there, or other programs have the processor
	Undiallable                       // not known to be dialled directly
)

// A Forecast is what a member's record says of it.
type Forecast struct {
	Since time.Time // available since; zero: not known
	Stay  float64   // probability that it stays for ForecastHorizon more, 0 to 1
}

// ForecastOf reads an advert's record at now, with what the pool's records say of hosts
// at large, but not by what this node alone learnt of them: members are to agree. Without
// a record that can be read, the answer is the pool's alone.
func ForecastOf(a *Advert, pool *predictor.Pool, now time.Time) Forecast {
	var f Forecast
	var r predictor.Record
	if len(a.Record) > 0 && r.UnmarshalBinary(a.Record) == nil && r.Up {
		f.Since = time.Unix(int64(r.Since), 0).UTC()
	} else {
		r = predictor.Record{Up: true, Since: uint32(max(0, now.Unix()))}
	}
	reader := predictor.NewReader(&r, pool)
	f.Stay = reader.Told(now, ForecastHorizon)
	return f
}

// A Foreseen is ForecastOf of one member, whose record is read anew only where it, or the pool, is another: a look at
// who should coordinate asks about all members, and reading a record costs most of that. The zero value is ready. It
// takes about a kilobyte.
type Foreseen struct {
	record []byte
	pooled time.Time
	since  time.Time
	reader predictor.Reader
}

// Of is ForecastOf, by a pool that was renewed last at pooled. It keeps a.Record, which nobody changes.
func (f *Foreseen) Of(a *Advert, pool *predictor.Pool, pooled, now time.Time) Forecast {
	if len(a.Record) == 0 {
		return ForecastOf(a, pool, now)
	}
	if !f.pooled.Equal(pooled) || !bytes.Equal(f.record, a.Record) {
		var r predictor.Record
		if r.UnmarshalBinary(a.Record) != nil || !r.Up {
			f.record = nil
			return ForecastOf(a, pool, now)
		}
		f.record, f.pooled, f.since = a.Record, pooled, time.Unix(int64(r.Since), 0).UTC()
		f.reader = predictor.NewReader(&r, pool)
	}
	return Forecast{Since: f.since, Stay: f.reader.Told(now, ForecastHorizon)}
}

// Levels quantises members' forecasts, with hysteresis, so that views that
// differ by a little name the same group and a group does not change with every
// hour. The zero value is ready.
type Levels struct {
	members map[task.PeerID]placing
	began   time.Time // the first call
}

type placing struct {
	level       int
	first, last time.Time // seen
}

// Seen records the time at which a member was first seen. Candidates may be called much later.
func (l *Levels) Seen(peer task.PeerID, now time.Time) {
	l.begin(now)
	if _, known := l.members[peer]; known {
		return
	}
	if l.members == nil {
		l.members = map[task.PeerID]placing{}
	}
	l.members[peer] = placing{first: l.firstSeen(now), last: now}
}

func (l *Levels) begin(now time.Time) {
	if l.began.IsZero() {
		l.began = now
	}
}

// firstSeen returns the time from which a member counts as seen that is seen for the first time at now.
func (l *Levels) firstSeen(now time.Time) time.Time {
	if now.Sub(l.began) < meetTime {
		return l.began
	}
	return now
}

// Candidates returns who of the members may coordinate at now, in their order.
// It keeps their levels for the next call and forgets those of others that were
// not there for MaxAdvertLife. A member is no older than it has been seen here, as far as
// this one has looked for long enough: its record is its own word. One without a
// forecast is on the lowest level, and so is one that said it would leave within
// ForecastHorizon.
//
// All that are not leaving stand. What they lack puts them after the others, so
// that an overlay has a coordinator even if all are young and behind relays.
// Where nobody is known to be dialled from outside, as on a network of one
// office, members whose reachability is not known lack nothing.
func (l *Levels) Candidates(members []Advert, forecasts map[task.PeerID]Forecast, now time.Time) []Candidate {
	public := false
	for i := range members {
		public = public || stands(&members[i], now) && members[i].Reach == ReachPublic
	}
	l.begin(now)
	watched := now.Sub(l.began) >= MinUptime
	kept := make(map[task.PeerID]placing, len(members))
	var out []Candidate
	for i := range members {
		a := &members[i]
		was, known := l.members[a.Peer]
		if !known {
			was.first = l.firstSeen(now)
		}
		was.last = now
		if !stands(a, now) {
			kept[a.Peer] = was
			continue
		}
		f := forecasts[a.Peer]
		if !a.Until.IsZero() && a.Until.Before(now.Add(ForecastHorizon)) {
			f.Stay = 0
		}
		was.level = quantise(was.level, f.Stay)
		kept[a.Peer] = was
		if f.Since.IsZero() || watched && was.first.After(f.Since) {
			f.Since = was.first
		}
		out = append(out, Candidate{
			Peer: a.Peer, Weight: was.level,
			Reserve: shortfall(a, f.Since, public, now), Network: NetworkOf(a.Addrs),
		})
	}
	for peer, p := range l.members {
		if _, here := kept[peer]; !here && now.Sub(p.last) < MaxAdvertLife {
			kept[peer] = p
		}
	}
	l.members = kept
	return out
}

// Known reports whether a member has been seen for MinUptime, or could not have been yet.
func (l *Levels) Known(peer task.PeerID, now time.Time) bool {
	p, ok := l.members[peer]
	return now.Sub(l.began) < MinUptime || ok && now.Sub(p.first) >= MinUptime
}

// Level returns the level of a member as of the last call of Candidates, 1 to
// MaxLevel, or 0 for one that never stood.
func (l *Levels) Level(peer task.PeerID) int { return l.members[peer].level }

// stands says whether a member may coordinate at all.
func stands(a *Advert, now time.Time) bool {
	return a.State != Leaving && a.State != Unavailable && (a.Until.IsZero() || a.Until.After(now.Add(HandOverHorizon)))
}

func shortfall(a *Advert, since time.Time, public bool, now time.Time) Shortfall {
	var s Shortfall
	if now.Sub(since) < MinUptime {
		s |= Young
	}
	if a.State != Available {
		s |= InUse
	}
	if a.Reach != ReachPublic && (public || a.Reach != ReachUnknown) {
		s |= Undiallable
	}
	return s
}

// quantise is the level of a stay with probability p for a member whose level
// was was; 0: it had none. Anything but a probability is as bad as 0.
func quantise(was int, p float64) int {
	if !(p >= 0 && p <= 1) {
		p = 0
	}
	level := 1
	for i, bound := range bounds {
		switch {
		case was == 0:
		case was >= i+2:
			bound -= margins[i]
		default:
			bound += margins[i]
		}
		if p >= bound {
			level = i + 2
		}
	}
	return level
}
