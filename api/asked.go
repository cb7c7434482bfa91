package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"godwit/scheduler/message"
	"godwit/task"
)

// A handler answers a request, or returns why it cannot.
type handler func(w http.ResponseWriter, r *http.Request) error

// overlayOrUsual is overlayID that leaves "" to the node.
func (s *Server) overlayOrUsual(ctx context.Context, nameOrID string) (string, error) {
	if nameOrID == "" {
		return "", nil
	}
	return s.overlayID(ctx, nameOrID)
}

// jobID reads the job of a path: its ID, its name, or enough of the ID's end
// or beginning to be unique.
func (s *Server) jobID(r *http.Request) (task.JobID, error) {
	return s.jobOf(r.Context(), r.PathValue("id"))
}

// jobOf is jobID of a text.
func (s *Server) jobOf(ctx context.Context, ref string) (task.JobID, error) {
	if id, err := task.ParseJobID(ref); err == nil {
		return id, nil
	}
	jobs, err := s.node.Jobs(ctx)
	if err != nil {
		return "", err
	}
	return resolve(ref, jobs)
}

func page(r *http.Request, most int) (from uint64, limit int, err error) {
	q := r.URL.Query()
	limit = most
	if v := q.Get("from"); v != "" {
		if from, err = strconv.ParseUint(v, 10, 64); err != nil {
			return 0, 0, inputError(fmt.Errorf("reading from: %w", err))
		}
	}
	if v := q.Get("limit"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 0 {
			return 0, 0, inputError(errors.New("limit must be a whole number, 0 or more"))
		}
	}
	return from, min(limit, most), nil
}

// resolve returns the job that ref names. An addition does not go by the name of the job that it adds tasks to.
func resolve(ref string, jobs []message.JobStatus) (task.JobID, error) {
	var found []task.JobID
	for _, j := range jobs {
		if matches(ref, j) && !(j.Adds != "" && ref == j.Name && slices.ContainsFunc(jobs, func(to message.JobStatus) bool {
			return to.ID == j.Adds && to.Name == j.Name
		})) {
			found = append(found, j.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &Error{Message: fmt.Sprintf("no job %q is known here", ref), Kind: KindNotFound,
			Status: http.StatusNotFound,
			Hint:   "`godwit jobs` lists the jobs known to this node"}
	}
	return "", &Error{Message: fmt.Sprintf("%q names %d jobs", ref, len(found)), Kind: KindInput,
		Status: http.StatusConflict,
		Hint:   "give the end of an ID: they are " + endsOf(found)}
}

// mostNamed is how many of the jobs of one name a refusal names: the newest.
const mostNamed = 5

// endsOf lists jobs by the ends of their IDs, the newest first, as they are.
func endsOf(jobs []task.JobID) string {
	var ends []string
	for _, id := range jobs[:min(len(jobs), mostNamed)] {
		ends = append(ends, string(id[max(0, len(id)-shownEnd):]))
	}
	text := strings.Join(ends, ", ")
	if more := len(jobs) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ", the newest first"
}

// shownEnd is how much of an ID is shown, as `godwit jobs` does.
const shownEnd = 10

// countOf returns a number from the request's query, 0 if it has none of that name.
func countOf(r *http.Request, name string) (uint64, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return 0, inputError(fmt.Errorf("%s must be a number of at least 0", name))
	}
	return n, nil
}

// flagOf is what the request's query says of a flag; false where it says nothing.
func flagOf(r *http.Request, name string) (bool, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return false, nil
	}
	set, err := strconv.ParseBool(v)
	if err != nil {
		return false, inputError(fmt.Errorf("%s must be true or false", name))
	}
	return set, nil
}

// parseTasks reads numbers of tasks and ranges of them, such as "5-20,30".
func parseTasks(text string) ([]message.Range, error) {
	const most = 10_000
	parts := strings.Split(text, ",")
	if len(parts) > most {
		return nil, fmt.Errorf("%d ranges of tasks, the most is %d", len(parts), most)
	}
	ranges := make([]message.Range, 0, len(parts))
	for _, part := range parts {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a task or a range of tasks: write 5, 5-20 or 5-20,30", part)
		}
		to, err := strconv.ParseUint(last, 10, 64)
		if err != nil || to < from || to >= task.MaxTasks {
			return nil, fmt.Errorf("%q is not a task or a range of tasks: write 5, 5-20 or 5-20,30", part)
		}
		ranges = append(ranges, message.Range{From: from, To: to + 1})
	}
	return ranges, nil
}
