package message

import "godwit/task"

// LookAtSignatures has a driver look at who signed the results that messages of one peer bring,
// where that may be done beside the machines: they look themselves at what is not marked as signed.
// verify says of each result whether Result.Verify returns nil, and is asked once, about no more than
// most. What counts by its worker's signature is looked at: of a Report the results of the worker that
// tells, and all of a Progress.
func LookAtSignatures(from task.PeerID, messages []Message, most int, verify func([]*task.Result) []bool) {
	var results []*task.Result
	var marks []*bool // of each
	look := func(r *task.Result, mark *bool) {
		if *mark = len(results) < most; *mark {
			results, marks = append(results, r), append(marks, mark)
		}
	}
	for i := range messages {
		switch m := &messages[i]; {
		case m.Report != nil:
			for i := range m.Report.Ended {
				if e := &m.Report.Ended[i]; e.Result.Worker == from {
					look(&e.Result, &e.Signed)
				}
			}
		case m.Progress != nil:
			for i := range m.Progress.Tasks {
				t := &m.Progress.Tasks[i]
				for k := range t.Results {
					look(&t.Results[k], &t.Signed)
				}
			}
		}
	}
	if len(results) == 0 {
		return
	}
	for i, good := range verify(results) {
		*marks[i] = *marks[i] && good
	}
}
