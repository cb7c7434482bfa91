package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// loan is a loan of the tasks from first to before end.
func loan(cell, leader string, first, end, runs uint64) message.LoanStatus {
	return message.LoanStatus{Cell: cell, Leader: task.PeerID(leader), Tasks: end - first, Running: runs,
		Ranges: []message.LoanRange{{From: first, To: end}}}
}

// TestLiesAboutLoans: of what a submitter tells others of its loans nothing counts that cannot be.
func TestLiesAboutLoans(t *testing.T) {
	miscounted := loan("0", "a", 0, 4, 0)
	miscounted.Tasks = 5
	for name, bad := range map[string]message.LoanStatus{
		"of no tasks": loan("0", "a", 3, 3, 0), "backwards": loan("0", "a", 5, 3, 0), "miscounted": miscounted,
		"beyond the job": loan("0", "a", 5, 11, 0), "that runs more than it has": loan("0", "a", 5, 8, 4),
		"of another's tasks": loan("0", "a", 2, 5, 0),
	} {
		sound := loan("1", "b", 0, 3, 2)
		if got := soundLoans([]message.LoanStatus{sound, bad}, 10); len(got) != 1 || got[0].Leader != sound.Leader {
			t.Errorf("a loan %s: %+v", name, got)
		}
	}
	many := make([]message.LoanStatus, 0, 5*message.MaxCells)
	for i := range uint64(cap(many)) {
		many = append(many, loan("0", "a", i, i+1, 0))
	}
	if got := soundLoans(many, uint64(len(many))); len(got) != message.MaxCells {
		t.Errorf("%d loans count, want %d", len(got), message.MaxCells)
	}
}

// TestLentTasks: what a borrower tells counts of its own tasks alone, and what the home says of these does not.
func TestLentTasks(t *testing.T) {
	tasks := func(state string, of ...uint64) (out []message.TaskStatus) {
		for _, i := range of {
			out = append(out, message.TaskStatus{Index: i, State: state})
		}
		return out
	}
	st := message.JobStatus{TasksList: tasks("done", 0, 1, 4, 6), Loans: []message.LoanStatus{loan("0", "a", 3, 5, 0),
		loan("1", "b", 6, 9, 0)}}
	pages := []message.JobStatus{{TasksList: tasks("running", 1, 3, 4, 7)}, {}} // of 1 and 7 it has nothing to say
	var got []string
	for _, x := range lentTasks(st, pages) {
		got = append(got, x.State+" "+string(rune('0'+x.Index)))
	}
	if want := []string{"done 0", "done 1", "running 3", "running 4"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGridOfLoans: what is lent is neither held nor waits at the home; of its own loan a borrower knows.
func TestGridOfLoans(t *testing.T) {
	loan := func(of task.PeerID, from, to uint64) message.LoanStatus {
		return message.LoanStatus{Leader: of, Tasks: to - from, Ranges: []message.LoanRange{{From: from, To: to}}}
	}
	loans := []message.LoanStatus{loan("a", 2, 4), loan("b", 4, 10)}
	for by, lent := range map[task.PeerID]uint64{"home": 8, "b": 2} {
		g := message.NewGrid(10, 1)
		g.Do(message.Range{From: 1, To: 10}) // as the home was told; one waits
		lendIn(g, loans, by)
		if want := (message.Bin{Waiting: 1, Done: 9 - lent, Lent: lent}); g.Bins[0] != want {
			t.Errorf("by %s: %+v, want %+v", by, g.Bins[0], want)
		}
	}
}

// toldOfLoans checks what a submitter, another member of the home and one of the other cell are told of a job
// of which the other cell has tasks.
func (s *swarm) toldOfLoans(id task.JobID, total uint64, submitter *peer) {
	t := s.t
	t.Helper()
	var st message.JobStatus
	s.within(2*time.Minute, "the submitter has lent tasks", func() bool {
		st, _ = submitter.Job(t.Context(), id, 0, 0)
		return len(st.Loans) == 1
	})
	home := submitter.status().Overlays[0].Cell
	for cell, of := range s.cells() {
		for _, p := range []*peer{submitter, of[0], of[1]} {
			var st message.JobStatus
			s.within(30*time.Second, "a node of cell "+cell+" knows of a job of cell "+home, func() bool {
				var err error // until the borrower has fetched it
				st, err = p.Job(t.Context(), id, 0, int(total))
				return err == nil && len(st.Loans) == 1
			})
			l := st.Loans[0]
			n := st.Tasks
			if n.Waiting+n.Running+n.Done+n.Failed != total || l.Cell == home || l.Since.IsZero() ||
				!l.Until.After(time.Now()) || len(st.TasksList) == 0 {
				t.Errorf("a node of cell %s says that of %d tasks of cell %s %+v, lent %+v, %d are listed", cell, total, home,
					n, l, len(st.TasksList))
			}
			words := "lent to cell " + l.Cell + ", led by " + shortPeer(l.Leader)
			last := l.Ranges[len(l.Ranges)-1].To - 1
			if w, err := p.Why(t.Context(), id, &last); err != nil || len(w.Reasons) < 2 ||
				!strings.HasPrefix(w.Reasons[0].Reason, words) {
				t.Errorf("a node of cell %s says why task %d is where it is: %+v, %v, want %q", cell, last, w, err, words)
			}
			if w, err := p.Why(t.Context(), id, nil); err != nil || len(w.Reasons) == 0 ||
				!strings.HasPrefix(w.Reasons[len(w.Reasons)-1].Reason, words) {
				t.Errorf("a node of cell %s says why tasks are where they are: %+v, %v, want %q", cell, w, err, words)
			}
		}
	}
}
