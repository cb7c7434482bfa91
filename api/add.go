package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"godwit/node"
)

// addTasks hands in a job that adds tasks to another one.
func (s *Server) addTasks(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	var req AddRequest
	if err := readJSON(w, r, MaxJobFile, &req); err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	if err := req.check(); err != nil {
		return err
	}
	added, err := s.node.AddTasks(r.Context(), id, node.Addition(req))
	reply := AddReply{ID: added.Job, To: added.To, Tasks: added.Tasks, Known: added.Known}
	return writeJSON(w, reply, addError(offeredError(r.Context(), added.Job, err)))
}

// check refuses what is contradictory.
func (r *AddRequest) check() error {
	wants := 0
	for _, is := range []bool{len(r.Sweep) > 0, len(r.Sweep) == 0 && r.Trials > 0, len(r.More) > 0} {
		if is {
			wants++
		}
	}
	switch {
	case wants != 1:
		return inputError(errors.New("an addition has either values of axes, or a number of trials, or trials of single points"))
	case len(r.Points) > 0 && (len(r.Sweep) > 0 || len(r.More) > 0):
		return inputError(errors.New("points are selected for further trials only"))
	}
	return nil
}

// addError adds a status and a hint to the error of an addition.
func addError(err error) error {
	refused := func(status int, hint string) error {
		return &Error{Message: err.Error(), Kind: KindRefused, Status: status, Hint: hint}
	}
	switch {
	case errors.Is(err, node.ErrOtherTasks):
		return refused(http.StatusPreconditionFailed, "look at the results again")
	case errors.Is(err, node.ErrNothingToAdd):
		return refused(http.StatusConflict, "`godwit results ID --points` lists the points of the job")
	case errors.Is(err, node.ErrTooManyTasks):
		return refused(http.StatusConflict, "add fewer, or hand in a job of its own")
	}
	return err
}

// Add hands in a job that adds tasks to another one, and returns once it is accepted.
func (c *Client) Add(ctx context.Context, ref string, req AddRequest) (reply AddReply, err error) {
	b, err := json.Marshal(req)
	if err != nil {
		return reply, fmt.Errorf("encoding the request: %w", err)
	}
	return reply, c.call(ctx, http.MethodPost, jobPath(ref, "/tasks"), bytes.NewReader(b), &reply)
}

// IsOutdated reports whether Add failed because the job has other tasks than AddRequest.Tasks says.
func IsOutdated(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusPreconditionFailed
}
