package view

import (
	"time"

	"godwit/node"
	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

// A Swarm is who is in an overlay, and what this node sends and receives.
type Swarm struct {
	node.Roster
	Overlays []HomePool `json:"overlays"` // that can be asked for
	Traffic  Traffic    `json:"traffic"`
}

// Traffic is what this node sent and received since it began.
type Traffic struct {
	RxBytes int64  `json:"rx_bytes"`
	TxBytes int64  `json:"tx_bytes"`
	Points  []Rate `json:"points"` // while somebody listened to events, the newest last
}

// A Rate is how much went by at a time.
type Rate struct {
	At time.Time `json:"at"`
	Rx float64   `json:"rx_per_s"` // bytes
	Tx float64   `json:"tx_per_s"`
}

// Pools are the overlays that a node serves.
type Pools struct {
	Pools []Pool `json:"pools"` // by name, at most MaxRows and MostRows bytes
	More  int    `json:"more"`  // that are not in the list
}

// A Pool is an overlay with its rules and members.
type Pool struct {
	node.OverlayDetail
	FoundedByMe bool      `json:"founded_by_me"`
	List        []PoolRow `json:"members_list"`
	More        int       `json:"more"` // members that are not in the list
}

// A PoolRow is a member.
type PoolRow struct {
	Peer   task.PeerID `json:"peer"`
	State  trace.State `json:"state"`
	Belief string      `json:"belief"`
	Roles  []string    `json:"roles"`
	Site   string      `json:"site"`
	Slots  int         `json:"slots"`
	// Removable says that DELETE removes it: this node founded a pool whose members are listed.
	Removable bool `json:"removable"`
}

// CleanRows makes the texts of members such as people may see, leaves of their addresses a few, and returns the first
// that are not too much.
func CleanRows(rows []node.Member) []node.Member {
	const addrs = 4
	for i := range rows {
		m := &rows[i]
		m.Site, m.Version, m.Overlay, m.BeliefBy = clean(m.Site), clean(m.Version), clean(m.Overlay), clean(m.BeliefBy)
		m.Addrs = append([]string{}, m.Addrs[:min(addrs, len(m.Addrs))]...)
		for k := range m.Addrs {
			m.Addrs[k] = clean(m.Addrs[k])
		}
	}
	return Within(rows, MaxBytes/2)
}

// NewPool makes a Pool of its members.
func NewPool(d node.OverlayDetail, of *node.Roster, self task.PeerID) Pool {
	p := Pool{OverlayDetail: d, FoundedByMe: d.Founder == self, List: []PoolRow{}}
	p.Rules.Allowed, p.Rules.Trusted = few(p.Rules.Allowed), few(p.Rules.Trusted)
	for _, m := range of.Rows {
		p.List = append(p.List, PoolRow{m.Peer, m.State, m.Belief, m.Roles, clean(m.Site), m.Slots,
			p.FoundedByMe && d.Rules.Admission == node.AdmitListed && m.Peer != self})
	}
	p.List = Within(p.List, MaxBytes/2)
	p.More = max(0, of.Members+of.Lost-len(p.List))
	return p
}

// fewListed is how many names of a pool's lists a page is sent: the whole lists are in GET /v1/overlays/{id}.
const fewListed = 20

func few(peers []task.PeerID) []task.PeerID { return peers[:min(fewListed, len(peers))] }

// NewPools are those of a list that are not too much.
func NewPools(all []Pool) Pools {
	in := Within(all, MostRows)
	return Pools{Pools: in, More: len(all) - len(in)}
}

// Recent are the decisions that a page shows, the newest first.
func Recent(all []node.Decision) []node.Decision {
	all = all[:min(len(all), MaxRows)]
	for i := range all {
		all[i].Reason, all[i].Overlay = clean(all[i].Reason), clean(all[i].Overlay)
	}
	return Within(all, MaxBytes/4)
}

// Research is what is known of members' habits, how good forecasts are, and what was decided.
type Research struct {
	Members     []Habits        `json:"members"`
	Reliability Reliability     `json:"reliability"`
	Decisions   []node.Decision `json:"decisions"` // of this node, the newest first, at most MaxRows and MaxBytes/4
}

// Habits are what a member tells of its past, and what is forecast of it.
type Habits struct {
	Peer     task.PeerID   `json:"peer"`
	Overlay  string        `json:"overlay"`
	Spells   []Spell       `json:"spells"` // at most habitSpells, the last
	Forecast node.Forecast `json:"forecast"`
}

// Reliability is how often hosts stayed of which that was forecast, over the histories that are shown.
type Reliability struct {
	Model string     `json:"model"`
	ForS  float64    `json:"for_s"` // the time of the forecasts
	Bins  []Reliable `json:"bins"`
	Brier float64    `json:"brier"` // mean squared error; 0 where nothing was asked
	Asked int        `json:"asked"`
	Why   string     `json:"why,omitempty"` // there is nothing
}

// A Reliable bin is of forecasts that said about the same.
type Reliable struct {
	Said float64 `json:"said"` // their mean
	Came float64 `json:"came"` // the share that stayed
	N    int     `json:"n"`
}

const (
	// MaxHabits bounds the members of Research, habitSpells the spells of each.
	MaxHabits   = 50
	habitSpells = 30
	// questions is how often the past is asked: bins of some fifty answers each.
	questions = 500
	// half is from what probability on a host is said to stay.
	half = 0.5
	// model is the one that a node uses.
	model = "blend"
)

// NewHabits makes the rows of Research.
func NewHabits(records []node.MemberRecord) []Habits {
	out := []Habits{}
	for _, r := range records[:min(len(records), MaxHabits)] {
		h := Habits{Peer: r.Peer, Overlay: clean(r.Overlay), Spells: []Spell{}, Forecast: r.Forecast}
		for i := max(0, r.Spells.Len()-habitSpells); i < r.Spells.Len(); i++ {
			s := r.Spells.Spell(i)
			h.Spells = append(h.Spells, Spell{s.Start, s.End, s.State.String()})
		}
		if h.Forecast.Rests == nil {
			h.Forecast.Rests = []string{}
		}
		out = append(out, h)
	}
	return Within(out, MaxBytes/2)
}

// NewReliability asks the model about the pasts of members. It takes some milliseconds.
func NewReliability(records []node.MemberRecord, seed uint64) Reliability {
	r := Reliability{Model: model, ForS: time.Hour.Seconds(), Bins: []Reliable{}}
	b := predictor.Backtest{Horizon: time.Hour, Questions: questions, Seed: seed}
	for _, m := range records {
		if m.Spells.Len() == 0 {
			continue
		}
		b.Histories = append(b.Histories, m.Spells)
		if b.From.IsZero() || m.Spells.Since().Before(b.From) {
			b.From = m.Spells.Since()
		}
		b.End = maxTime(b.End, m.Spells.Until())
	}
	asked, err := b.Ask()
	if err != nil {
		r.Why = err.Error()
		return r
	}
	m, err := predictor.Parse(model)
	if err == nil {
		asked, err = b.Run(m, asked, func(n int, host func(int)) {
			for i := range n {
				host(i)
			}
		})
	}
	if err != nil {
		r.Why = err.Error()
		return r
	}
	s := predictor.NewScorer(asked, half).Score()
	r.Asked, r.Brier = s.Questions, s.Brier
	for _, x := range s.Reliability {
		r.Bins = append(r.Bins, Reliable{x.P, x.Stayed, x.N})
	}
	return r
}
