package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"godwit/api/view"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// A JobList is a page of the jobs that a node knows.
type JobList struct {
	Total  int            `json:"total"` // of those in the state that was asked for
	From   int            `json:"from"`
	States map[string]int `json:"states"` // how many jobs there are in each
	Jobs   []ListedJob    `json:"jobs"`   // the newest first, at most view.MaxRows and view.MostRows bytes
}

// A ListedJob is a job, and whether this node submitted it.
type ListedJob struct {
	message.JobStatus
	Mine bool `json:"mine"`
}

func (s pages) jobList(w http.ResponseWriter, r *http.Request) error {
	from, limit, err := page(r, view.MaxRows)
	if err != nil {
		return err
	}
	jobs, err := s.node.Jobs(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, listJobs(jobs, s.node.ID(), r.URL.Query().Get("state"), from, limit), nil)
}

// listJobs makes a page of jobs: of one state, or of all for "".
func listJobs(jobs []message.JobStatus, self task.PeerID, state string, from uint64, limit int) JobList {
	l := JobList{States: map[string]int{}, Jobs: []ListedJob{}}
	for i := range jobs {
		l.States[jobs[i].State]++
	}
	if state != "" {
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j message.JobStatus) bool { return j.State != state })
	}
	l.Total = len(jobs)
	l.From = int(min(from, uint64(len(jobs))))
	for _, j := range jobs[l.From:min(len(jobs), l.From+limit)] {
		l.Jobs = append(l.Jobs, ListedJob{view.Brief(j), j.Submitter == self})
	}
	l.Jobs = view.Within(l.Jobs, view.MostRows)
	return l
}

// usualBins is how many bins a grid has unless it is asked for more or fewer.
const usualBins = 200

func (s pages) grid(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	bins, err := number(r, "bins", usualBins, message.MaxBins)
	if err != nil {
		return err
	}
	g, err := s.node.Grid(r.Context(), id, bins)
	return writeJSON(w, g, err)
}

// number reads a count of a query: usual where it is absent.
func number(r *http.Request, name string, usual, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, inputError(errors.New(name + " must be a whole number from 1 to " + strconv.Itoa(most)))
	}
	return n, nil
}

const (
	// drawnTasks is how many tasks of a job a timeline is made of: from the first on, and from about those
	// on that run.
	drawnTasks = 1000
	// usualLanes is how many workers it shows unless it is asked for more or fewer, mostLanes how many at most.
	usualLanes, mostLanes = 30, 100
)

func (s pages) timeline(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	lanes, err := number(r, "rows", usualLanes, mostLanes)
	if err != nil {
		return err
	}
	st, err := s.around(r.Context(), id, drawnTasks)
	if err != nil {
		return err
	}
	return writeJSON(w, view.NewTimeline(st.TasksList, lanes, time.Now()), nil)
}

// around returns a job with those of its tasks that somebody looks for: the first, and those about the ones that
// run.
func (s pages) around(ctx context.Context, id task.JobID, most int) (message.JobStatus, error) {
	st, err := s.node.Job(ctx, id, 0, most)
	if err != nil {
		return st, err
	}
	half := uint64(most / 2)
	from := st.Tasks.Done + st.Tasks.Failed
	if st.Tasks.Total <= uint64(most) || from <= half {
		return st, nil
	}
	more, err := s.node.Job(ctx, id, from-half, most)
	if err != nil {
		return st, err
	}
	known := uint64(0)
	if n := len(st.TasksList); n > 0 {
		known = st.TasksList[n-1].Index + 1
	}
	for _, t := range more.TasksList {
		if t.Index >= known {
			st.TasksList = append(st.TasksList, t)
		}
	}
	return st, nil
}

// lookedResults bounds the results of a job that are read to find those that failed: a fraction of a second.
const lookedResults = 4000

func (s pages) failures(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	st, err := s.node.Job(r.Context(), id, 0, 0)
	if err != nil {
		return err
	}
	var failed []view.FailedTask
	if st.Tasks.Failed > 0 {
		if st.Submitter == s.node.ID() {
			failed, err = s.failedHere(r.Context(), id)
		} else {
			failed, err = s.failedElsewhere(r.Context(), id)
		}
	}
	if err != nil {
		return err
	}
	return writeJSON(w, view.NewFailures(failed, st.Tasks.Failed), nil)
}

// failedHere finds tasks that failed of a job of this node's, by the results that it holds.
func (s pages) failedHere(ctx context.Context, id task.JobID) (out []view.FailedTask, err error) {
	spec, sealer, err := s.opened(ctx, id)
	if err != nil {
		return nil, err
	}
	err = s.eachEnded(ctx, id, lookedResults, func(t *message.TaskSummary) error {
		if !t.Failed {
			return nil
		}
		o, _, err := newTaskOutputs(spec, sealer, t)
		if err != nil {
			return err
		}
		f := view.FailedTask{Index: t.Index, Reason: t.Reason, Outcome: o.Outcome, ExitCode: o.ExitCode,
			Peers: o.Workers}
		f.Stderr = []byte(o.Message)
		for _, c := range o.Outputs {
			if c.Name == task.Stderr && len(c.Content) > 0 {
				f.Stderr = c.Content
			}
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// failedElsewhere finds tasks that failed of another node's job, by what its leader has of them.
func (s pages) failedElsewhere(ctx context.Context, id task.JobID) (out []view.FailedTask, err error) {
	st, err := s.around(ctx, id, drawnTasks)
	for i := range st.TasksList {
		t := &st.TasksList[i]
		if t.State != message.JobFailed {
			continue
		}
		f := view.FailedTask{Index: t.Index, Reason: t.Reason, Outcome: task.OutcomeUnknown.String()}
		if n := len(t.Attempts); n > 0 {
			f.Outcome, f.Peers = t.Attempts[n-1].Outcome, []task.PeerID{t.Attempts[n-1].Worker}
		}
		out = append(out, f)
	}
	return out, err
}

func (s pages) stages(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	_, spec, err := s.node.Submitted(r.Context(), id)
	if errors.Is(err, node.ErrUnknownJob) { // another's: what its stages are its record says, which is not here
		if _, err := s.node.Job(r.Context(), id, 0, 0); err != nil {
			return err
		}
		return writeJSON(w, view.Stages{Stages: []view.Stage{}}, nil)
	}
	if err != nil {
		return err
	}
	g, err := s.node.Grid(r.Context(), id, message.MaxBins)
	if err != nil {
		return err
	}
	return writeJSON(w, view.NewStages(spec, g), nil)
}
