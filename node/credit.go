package node

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"godwit/node/thanks"
	"godwit/overlay"
	"godwit/owner"
	"godwit/task"
)

// methodCredit asks a member what it was thanked for: a creditQuery, answered with a creditAnswer.
const methodCredit = "credit"

const (
	// creditPage bounds the thanks of one answer: of 4 KiB at most, and mostly of 300 bytes.
	creditPage = 64
	// creditPages bounds the answers that are read of one member.
	creditPages = 16
	// creditMembers bounds the members that are asked for a table, and creditAtOnce those at a time.
	creditMembers, creditAtOnce = 512, 8
	// creditTime bounds the making of a table: a person waits.
	creditTime = 20 * time.Second
	// MaxCreditDays bounds how far a table goes back.
	MaxCreditDays = thanks.GotFor

	maxCreditQuery  = 1 << 10
	maxCreditAnswer = creditPage*task.MaxThanks*4/3 + 4<<10
)

type creditQuery struct {
	Overlay overlay.ID `json:"overlay"`
	Since   int64      `json:"since"`          // day, as task.DayOf
	From    int        `json:"from,omitempty"` // how many to leave out
}

type creditAnswer struct {
	Name   string   `json:"name,omitempty"` // that the member's owner chose
	Thanks [][]byte `json:"thanks,omitempty"`
	More   bool     `json:"more,omitempty"` // behind these
}

// Credit is what a machine gave, by thanks that submitters signed.
type Credit struct {
	Since    time.Time          `json:"since"`    // the first day that counts
	Name     string             `json:"name"`     // that this machine's owner chose; "" for none
	Today    thanks.Amount      `json:"today"`    // since midnight, UTC
	Total    thanks.Amount      `json:"total"`    // since Since
	Projects []thanks.ByProject `json:"projects"` // since Since, by overlay's ID
	Days     []DayGiven         `json:"days"`     // on which something was given, the last first
}

// DayGiven is what was given on a day.
type DayGiven struct {
	Day   string        `json:"day"` // as 2006-01-02, UTC
	Tasks uint64        `json:"tasks"`
	CPU   time.Duration `json:"cpu_ns"`
	Fuel  uint64        `json:"fuel"`
}

// GivenToday is what a machine gave since midnight, UTC, and to whose jobs.
type GivenToday struct {
	Tasks uint64        `json:"tasks"`
	CPU   time.Duration `json:"cpu_ns"`
	For   []string      `json:"for"` // names of projects, at most mostNamed
}

// mostNamed bounds the projects that a status names.
const mostNamed = 4

// givenToday is on the loop.
func (n *Node) givenToday() GivenToday {
	notes := n.thankful.got.Since("", task.DayOf(n.clock.wall()))
	sum := thanks.Sum(notes)
	g := GivenToday{Tasks: sum.Tasks, CPU: sum.CPU, For: []string{}}
	for _, p := range thanks.Projects(notes) {
		if p.Project != "" && len(g.For) < mostNamed && !slices.Contains(g.For, p.Project) {
			g.For = append(g.For, p.Project)
		}
	}
	return g
}

// PoolCredit is who gave what in an overlay, by the thanks that its members show.
type PoolCredit struct {
	Overlay  string       `json:"overlay"` // its name
	Since    time.Time    `json:"since"`   // the first day that counts
	Rows     []thanks.Row `json:"rows"`    // who gave most first
	Members  int          `json:"members"` // that are there, this node among them
	Answered int          `json:"answered"`
}

// Credit tells what this machine gave in the last days, today among them.
func (n *Node) Credit(ctx context.Context, days int) (Credit, error) {
	since := n.creditSince(days)
	c := Credit{Since: dayTime(since), Name: n.ownersName(), Projects: []thanks.ByProject{}, Days: []DayGiven{}}
	err := n.look(ctx, func() {
		notes := n.thankful.got.Since("", since)
		c.Total, c.Projects = thanks.Sum(notes), thanks.Projects(notes)
		c.Today = thanks.Sum(n.thankful.got.Since("", task.DayOf(n.clock.wall())))
		for len(notes) > 0 {
			day := notes[0].Day
			end := slices.IndexFunc(notes, func(o thanks.Note) bool { return o.Day != day })
			if end < 0 {
				end = len(notes)
			}
			sum := thanks.Sum(notes[:end])
			c.Days = append(c.Days, DayGiven{dayTime(day).Format(time.DateOnly), sum.Tasks, sum.CPU, sum.Fuel})
			notes = notes[end:]
		}
	})
	return c, err
}

func dayTime(day int64) time.Time { return time.Unix(0, 0).UTC().Add(time.Duration(day) * task.Day) }

func (n *Node) creditSince(days int) int64 {
	return task.DayOf(n.clock.wall()) - int64(min(max(days, 1), MaxCreditDays)) + 1
}

// ownersName is the name that the owner chose for this machine; "" for none.
func (n *Node) ownersName() string {
	rules, _ := n.monitor.Rules()
	return rules.Name
}

// answerCredit shows a member what this node was thanked for in an overlay.
func (n *Node) answerCredit(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q creditQuery
	if len(body) > maxCreditQuery {
		return nil, fmt.Errorf("a question of %d bytes, the most is %d", len(body), maxCreditQuery)
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	a := creditAnswer{Name: n.ownersName()}
	err := errNoMember
	if e := n.doOf(ctx, from, func() {
		m := n.overlays.members[q.Overlay]
		if m == nil || from != n.self && !m.has(from) {
			return
		}
		err = nil
		notes := n.thankful.got.Shown(string(q.Overlay), q.Since)
		notes = notes[min(max(q.From, 0), len(notes)):]
		if a.More = len(notes) > creditPage; a.More {
			notes = notes[:creditPage]
		}
		for _, n := range notes {
			a.Thanks = append(a.Thanks, n.Bytes)
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// readCredit reads an answer of a member: its name, and thanks to it of an overlay since a day that are well
// signed. Whatever else it shows is an error.
func readCredit(b []byte, q creditQuery, of task.PeerID, now time.Time) (a creditAnswer, all []*task.Thanks,
	err error) {
	if len(b) > maxCreditAnswer {
		return a, nil, fmt.Errorf("reading thanks: %d bytes, the most is %d", len(b), maxCreditAnswer)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, nil, fmt.Errorf("reading thanks: %w", err)
	}
	if len(a.Thanks) > creditPage {
		return a, nil, fmt.Errorf("reading thanks: %d, the most is %d", len(a.Thanks), creditPage)
	}
	a.Name = task.Printable(a.Name, owner.MaxOwnerName)
	for _, b := range a.Thanks {
		t, err := task.OpenThanks(b)
		switch {
		case err != nil:
			return a, all, err
		case t.Worker != of || t.Overlay != string(q.Overlay) || t.Day < q.Since:
			return a, all, fmt.Errorf("reading thanks: they are to %s", t.Worker)
		}
		if err := t.Counts(now); err != nil {
			return a, all, err
		}
		all = append(all, t)
	}
	return a, all, nil
}

// PoolCredit asks the members of an overlay that are there what they were thanked for in the last days, checks
// every signature and sums it up.
func (n *Node) PoolCredit(ctx context.Context, nameOrID string, days int) (PoolCredit, error) {
	ctx, cancel := context.WithTimeout(ctx, creditTime)
	defer cancel()
	q := creditQuery{Since: n.creditSince(days)}
	out := PoolCredit{Since: dayTime(q.Since)}
	cores := map[task.PeerID]int{}
	var peers []task.PeerID
	var err error
	if e := n.do(ctx, func() {
		var m *membership
		if m, err = n.find(nameOrID); err != nil {
			return
		}
		out.Overlay, q.Overlay = m.Manifest().Name, m.id
		for _, a := range m.View().Members() {
			cores[a.Peer] = a.Slots
			peers = append(peers, a.Peer)
		}
	}); e != nil {
		return out, e
	}
	if err != nil {
		return out, err
	}
	out.Members = len(peers)
	s := n.askCredit(ctx, q, creditSample(n.self, peers))
	out.Answered = s.answered
	out.Rows = thanks.Table(s.all, func(p task.PeerID) int { return cores[p] })
	for i := range out.Rows {
		out.Rows[i].Name = s.names[out.Rows[i].Worker]
	}
	return out, nil
}

// creditSample returns the members that are asked for a table: this node and others at random, so that which keys sort
// first does not decide whom a table leaves out.
func creditSample(self task.PeerID, peers []task.PeerID) []task.PeerID {
	rand.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	if i := slices.Index(peers, self); i > 0 {
		peers[0], peers[i] = peers[i], peers[0]
	}
	return peers[:min(len(peers), creditMembers)]
}

// shownCredit is what members show.
type shownCredit struct {
	mu       sync.Mutex
	all      []*task.Thanks
	names    map[task.PeerID]string
	answered int
}

// askCredit asks members, some at a time.
func (n *Node) askCredit(ctx context.Context, q creditQuery, peers []task.PeerID) *shownCredit {
	s := &shownCredit{names: map[task.PeerID]string{}}
	next := make(chan task.PeerID)
	var group sync.WaitGroup
	for range creditAtOnce {
		group.Go(func() {
			for peer := range next {
				if err := n.askCreditOf(ctx, q, peer, s); err != nil {
					n.log.Debug("a member does not show what it was thanked for", "peer", peer, "err", err)
				}
			}
		})
	}
	for _, p := range peers {
		next <- p
	}
	close(next)
	group.Wait()
	return s
}

// askCreditOf reads all pages of one member.
func (n *Node) askCreditOf(ctx context.Context, q creditQuery, peer task.PeerID, s *shownCredit) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	for range creditPages {
		body, err := json.Marshal(q)
		if err != nil {
			return err
		}
		var b []byte
		if peer == n.self {
			b, err = n.answerCredit(ctx, peer, body)
		} else {
			b, err = n.net.Request(ctx, peer, methodCredit, body)
		}
		if err != nil {
			return err
		}
		a, all, err := readCredit(b, q, peer, n.clock.wall())
		s.mu.Lock()
		s.all, s.names[peer] = append(s.all, all...), a.Name
		if q.From == 0 && err == nil {
			s.answered++
		}
		s.mu.Unlock()
		if err != nil || !a.More || len(all) == 0 {
			return err
		}
		q.From += len(all)
	}
	return nil
}
