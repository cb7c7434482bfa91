package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"godwit/internal/failure"
	"godwit/lab/experiment"
	"godwit/lab/testbed/replay"
	"godwit/task"
)

// Error is the response body of failed requests.
type Error struct {
	Message string `json:"error"`
	Hint    string `json:"hint,omitempty"`
	// File, Line and Column locate an error in a definition. Lines and columns start at 1, and are 0 in other errors.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Status int    `json:"-"` // HTTP status
}

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Message }

// asError converts an error, and chooses its HTTP status.
func asError(err error) *Error {
	e := &Error{Message: err.Error(), Hint: failure.HintOf(err), Status: http.StatusInternalServerError}
	var (
		known   *Error
		inFile  *task.Error
		usage   *failure.Error
		tooLong *http.MaxBytesError
	)
	is := func(any ...error) bool {
		for _, one := range any {
			if errors.Is(err, one) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &inFile):
		e.Status, e.File, e.Line, e.Column = http.StatusBadRequest, inFile.File, inFile.Line, inFile.Column
	case errors.As(err, &tooLong):
		e.Status = http.StatusRequestEntityTooLarge
		e.Message = fmt.Sprintf("the request has more than %d bytes", tooLong.Limit)
	case errors.As(err, &usage), is(experiment.ErrOptions):
		e.Status = http.StatusBadRequest
	case is(experiment.ErrUnknown, replay.ErrNoServer):
		e.Status = http.StatusNotFound
	case is(experiment.ErrNoSolution):
		e.Status = http.StatusUnprocessableEntity
	case is(experiment.ErrFull, experiment.ErrInUse, experiment.ErrSimulated, replay.ErrEnded, replay.ErrServerDown):
		e.Status = http.StatusConflict
	case is(experiment.ErrClosed, context.DeadlineExceeded, context.Canceled):
		e.Status = http.StatusServiceUnavailable
	}
	return e
}

func writeError(w http.ResponseWriter, e *Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e) // the client may have disconnected
}
