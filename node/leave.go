package node

import (
	"time"

	"godwit/member"
	"godwit/node/exec"
)

const (
	// saveOnLeaving is how long it may take to save a task while this node goes: a
	// guest of the lowest priority on a machine that is busy takes seconds to come to a
	// point where it can be saved. As long is left to fetch what is saved.
	saveOnLeaving = member.GoodbyeMost / 2
	// goodbyeLook is how often it looks whether it may go.
	goodbyeLook = 20 * time.Millisecond
)

// leave begins the end of the node: it says that it goes, hands over the
// leadership and gives its tasks back, so that they go on elsewhere.
func (n *Node) leave() {
	n.log.Info("leaving")
	n.at(n.peer.Leave)
	n.exec.Leave(member.GoodbyeOrder, saveOnLeaving)
	for _, m := range n.ordered() {
		m.goodbye()
	}
}

// goodbye says that this member goes.
func (m *membership) goodbye() {
	o := m.all
	o.exec.Drop(func(of exec.Client) bool { return of == client{m} })
	o.at(m.Depart)
	o.exec.SendAway(client{m})
	o.spawn(func() {
		o.post(post{call: func() {
			if o.members[m.id] == m {
				o.at(m.Goodbye)
			}
		}})
	})
}

// sayGone tells the members that this one is none any more, at once: what was to
// be durable before is.
func (m *membership) sayGone() {
	m.all.at(m.SayGone)
	if err := m.all.net.SetAdvert(m.Advertised()); err != nil {
		m.log.Warn("the others do not hear that this node has left", "err", err)
	}
}
