package replication

import (
	"fmt"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// tells has a peer tell of so many jobs that nobody else knows, in a session that goes on.
func (d *desk) tells(p task.PeerID, session uint64, jobs int) {
	k := &message.Known{Epoch: 3, Session: session, Seq: 1}
	for i := range jobs {
		k.Jobs = append(k.Jobs, message.JobDigest{Job: task.JobID(fmt.Sprint("invented", i))})
	}
	d.r.Known(p, k)
}

// However much a peer tells, no more of it is remembered than a leader can have; one that comes
// into the group then begins anew.
func TestDigestsAreBounded(t *testing.T) {
	d := newDesk(t)
	d.tells("stranger", 5, 4*tellerDigests)
	if n := len(d.r.followers["stranger"].digests); n > tellerDigests {
		t.Errorf("%d digests of a peer outside the group are kept", n)
	}
	d.tells(follower2, 5, maxDigests+1000)
	if n := len(d.r.followers[follower2].digests); n > maxDigests {
		t.Errorf("%d digests of a follower are kept", n)
	}
	d.sent = nil
	d.r.GroupIs([]task.PeerID{"leader", follower1, "stranger"})
	asked := false
	for _, s := range d.sent {
		asked = asked || s.To == "stranger" && s.Message.Wanted != nil && s.Message.Wanted.Session == 0
	}
	if !asked || len(d.r.followers["stranger"].digests) != 0 {
		t.Errorf("who told too much and comes into the group goes on: %+v", d.sent)
	}
}
