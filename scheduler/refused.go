package scheduler

import (
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/task"
)

// refusedPause is how long a job stays away from a worker that its submitter refuses, unless he
// says so again: every word of what he holds does. It outlasts what a worker waits for.
const refusedPause = 24 * time.Hour

// refuse takes a job away from the workers of which its submitter found results wrong, and keeps
// it away. A host that comes later is refused with his next word.
func (t *jobTable) refuse(j *job, workers []task.PeerID) {
	if j.state != jobOpen {
		return
	}
	for _, peer := range workers {
		h := t.c.members.hosts[peer]
		if h == nil {
			continue
		}
		if h.paused[j].why != message.DropRefused {
			t.c.decided(task.TaskID{Job: j.id}, "kept away", peer, message.DropRefused)
		}
		t.c.members.keepAway(h, j, pause{until: t.c.now.Add(refusedPause), why: message.DropRefused})
		for _, l := range slices.Clone(h.leases) {
			if l.job == j && l.is(leasing.Open) {
				t.c.outbox.drop(peer, l.taskID(), l.attempt, message.DropRefused)
				t.c.reports.giveUp(l, "superseded", message.DropRefused)
			}
		}
	}
}
