package submitter

import (
	"cmp"
	"slices"
	"strings"

	"godwit/scheduler/message"
	"godwit/task"
)

// mostGifts bounds the workers and projects of which it is remembered what they gave; a driver that
// thanks takes them away long before. What others give is not remembered.
const mostGifts = 8192

// gifts are what workers gave to jobs here, by the results that were held, since they were last taken
// away. Each of several replicas is one; what failed, what only checks another result and what this
// node ran again itself are none.
type gifts map[giftName]task.Given

type giftName struct {
	worker  task.PeerID
	project string
}

// note takes in a task's end that is held.
func (g *gifts) note(s *Submitter, j *submitted, t *message.TaskSummary) {
	if t.Failed {
		return
	}
	project := j.spec.Name
	if len(j.spec.Sealed) > 0 {
		project = "" // who may not read the job need not know what it is about
	}
	for i := range t.Results {
		for _, gift := range task.Gifts(&t.Results[i], j.spec.Submitted.Time, s.now) {
			name := giftName{gift.Worker, project}
			sum, known := (*g)[name]
			if gift.Worker == s.self || !known && len(*g) >= mostGifts {
				continue
			}
			if *g == nil {
				*g = gifts{}
			}
			sum.Project = project
			sum.Add(gift.Given)
			(*g)[name] = sum
		}
	}
}

// TakeGifts takes away what workers gave to this node's jobs since it was last called, in order of the workers.
func TakeGifts(s *Submitter) []task.Gift {
	var out []task.Gift
	for name, given := range s.gifts {
		out = append(out, task.Gift{Worker: name.worker, Given: given})
	}
	clear(s.gifts)
	slices.SortFunc(out, func(a, b task.Gift) int {
		return cmp.Or(strings.Compare(string(a.Worker), string(b.Worker)), strings.Compare(a.Project, b.Project))
	})
	return out
}
