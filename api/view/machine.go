package view

import (
	"time"

	"godwit/node"
	"godwit/owner"
	"godwit/trace"
)

// A Machine is a week of a machine, what is forecast of it, and by which rules it is lent.
type Machine struct {
	File     string            `json:"file"` // of the rules; "" for none
	Strip    Strip             `json:"strip"`
	Forecast []StayFor         `json:"forecast"`
	RestsOn  []string          `json:"rests_on"`
	Rules    []owner.Explained `json:"rules"`
	Sensors  []owner.Finding   `json:"sensors"`
}

// A Strip is the states of a time, in order.
type Strip struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Spells []Spell   `json:"spells"` // at most MaxRows
}

// A Spell is a time in one state. Where a strip had too many it is the one that lasted longest of several.
type Spell struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	State string    `json:"state"` // of the five, or "unobserved"
}

// A StayFor says how likely a machine is to run tasks for so long from now without a break.
type StayFor struct {
	ForS float64 `json:"for_s"`
	Stay float64 `json:"stay"`
}

// Week is how far back a strip goes.
const Week = 7 * 24 * time.Hour

// Horizons are the times of a forecast: each hour of a day.
func Horizons() (out []time.Duration) {
	for h := time.Hour; h <= 24*time.Hour; h += time.Hour {
		out = append(out, h)
	}
	return out
}

// NewMachine makes a Machine; src is the file of rules.
func NewMachine(h *trace.History, now time.Time, stays []float64, of *node.Forecast, rules *owner.Rules, file string,
	src []byte, sensors []owner.Finding) Machine {
	m := Machine{File: file, Strip: NewStrip(SpellsSince(h, now.Add(-Week))), RestsOn: of.Rests,
		Rules: owner.Explain(rules, src), Sensors: sensors, Forecast: []StayFor{}}
	for i, d := range Horizons() {
		m.Forecast = append(m.Forecast, StayFor{d.Seconds(), stays[i]})
	}
	if m.RestsOn == nil {
		m.RestsOn = []string{}
	}
	return m
}

// SpellsSince are the spells of a history from a time on.
func SpellsSince(h *trace.History, from time.Time) (out []trace.Spell) {
	for i := range h.Len() {
		s := h.Spell(i)
		if s.Start.Before(from) {
			s.Start = from
		}
		if s.End.After(s.Start) {
			out = append(out, s)
		}
	}
	return out
}

// NewStrip makes a strip of spells in order. What is too much is told in steps, each by the state that lasted
// longest in it.
func NewStrip(spells []trace.Spell) Strip {
	s := Strip{Spells: []Spell{}}
	if len(spells) == 0 {
		return s
	}
	s.From, s.To = spells[0].Start.UTC(), spells[len(spells)-1].End.UTC()
	merged := merge(spells)
	if len(merged) > MaxRows {
		merged = merge(steps(merged, MaxRows))
	}
	for _, x := range merged {
		s.Spells = append(s.Spells, Spell{x.Start.UTC(), x.End.UTC(), x.State.String()})
	}
	return s
}

// merge makes one of spells in a row that are of one state.
func merge(spells []trace.Spell) (out []trace.Spell) {
	for _, s := range spells {
		if n := len(out); n > 0 && out[n-1].State == s.State {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// steps cuts the time of spells into n steps of one length.
func steps(spells []trace.Spell, n int) (out []trace.Spell) {
	from, to := spells[0].Start, spells[len(spells)-1].End
	at := 0
	for i := range n {
		begin, end := from.Add(to.Sub(from)/time.Duration(n)*time.Duration(i)), from.Add(to.Sub(from)/time.Duration(n)*
			time.Duration(i+1))
		if i == n-1 {
			end = to
		}
		var lasted [trace.Unobserved + 1]time.Duration
		for at < len(spells) && !spells[at].End.After(begin) {
			at++
		}
		for k := at; k < len(spells) && spells[k].Start.Before(end); k++ {
			s := spells[k]
			lasted[s.State] += minTime(s.End, end).Sub(maxTime(s.Start, begin))
		}
		best := trace.Unobserved
		for state, d := range lasted {
			if d > lasted[best] {
				best = trace.State(state)
			}
		}
		out = append(out, trace.Spell{State: best, Start: begin, End: end})
	}
	return out
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// A Preview is what a changed rule would have made of the last week.
type Preview struct {
	Key      string    `json:"key"`
	Value    string    `json:"value"`
	Effect   string    `json:"effect"` // what the new value comes to, a sentence
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Now      Tally     `json:"now"`
	Then     Tally     `json:"then"`
	UnknownS float64   `json:"unknown_s"` // of which the record does not tell what would have been
	Strip    Strip     `json:"strip"`     // as it would have been
	Notes    []string  `json:"notes"`
}

// A Tally is how long a machine could have run tasks, and how often that was broken off.
type Tally struct {
	AvailableS float64 `json:"available_s"`
	Stops      int     `json:"stops"`
}

// NewPreview makes a Preview of a rule that is changed to a value.
func NewPreview(p *owner.Preview, then *owner.Rules, key, value string) Preview {
	v := Preview{Key: key, Value: value, From: p.From.UTC(), To: p.To.UTC(), Strip: NewStrip(p.Spells), Notes: p.Notes,
		Now: Tally{p.Was.Available.Seconds(), p.Was.Stops}, Then: Tally{p.Then.Available.Seconds(), p.Then.Stops},
		UnknownS: p.Unknown.Seconds()}
	if v.Notes == nil {
		v.Notes = []string{}
	}
	for _, e := range owner.Explain(then, nil) {
		if e.Key == key {
			v.Effect = e.Effect
		}
	}
	return v
}
