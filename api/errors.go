package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/node"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// minRef is the shortest end or beginning of an ID that may name a job or a peer:
// shorter ones are more likely a name mistyped.
const minRef = 4

func matches(ref string, j message.JobStatus) bool {
	return ref == j.Name || named(string(j.ID), ref)
}

// named says whether ref is the end or the beginning of an ID.
func named(id, ref string) bool {
	return len(ref) >= minRef && (strings.HasSuffix(id, ref) || strings.HasPrefix(id, ref))
}

func inputError(err error) *Error {
	e := &Error{Message: err.Error(), Kind: KindInput, Status: http.StatusBadRequest}
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		e.Status = http.StatusRequestEntityTooLarge
	}
	return e
}

// asError finds out what the caller can do about err.
func asError(err error) *Error {
	var (
		known   *Error
		inFile  *task.Error
		module  *sandbox.ModuleError
		tooLong *http.MaxBytesError
	)
	e := &Error{Message: err.Error(), Kind: KindInternal, Status: http.StatusInternalServerError}
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &inFile):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusBadRequest, inFile.Hint
	case errors.As(err, &module):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusBadRequest, module.Hint
	case errors.As(err, &tooLong), errors.Is(err, task.ErrKey), errors.Is(err, seal.ErrSealed),
		errors.Is(err, blocks.ErrBadCID), errors.Is(err, blocks.ErrTree):
		return inputError(err)
	case errors.Is(err, node.ErrUnknownJob), errors.Is(err, blocks.ErrNotFound):
		e.Kind, e.Status, e.Hint = KindNotFound, http.StatusNotFound, "`godwit jobs` lists the jobs known to this node"
	case errors.Is(err, node.ErrUnknownMember), errors.Is(err, node.ErrNoHistory):
		e.Kind, e.Status, e.Hint = KindNotFound, http.StatusNotFound, "`godwit peers` lists the members"
	case errors.Is(err, node.ErrInvalidRules):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusBadRequest,
			"`godwit overlay create --help` tells what rules there are"
	case errors.Is(err, node.ErrBadAddress):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusBadRequest,
			"`godwit status` on the other machine prints its addresses: give one of those"
	case errors.Is(err, node.ErrNotNamed):
		e.Kind, e.Status, e.Hint = KindNotFound, http.StatusNotFound, "`godwit peers added` lists those that it was told of"
	case errors.Is(err, node.ErrNewerTicket):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusBadRequest,
			"install a newer godwit here, or ask its founder for the overlay's ID and join with ID@ADDRESS if it is open"
	case errors.Is(err, node.ErrInvalidTicket):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusBadRequest, "give all of what `godwit overlay invite` printed"
	case errors.Is(err, node.ErrUnknownOverlay):
		e.Kind, e.Status, e.Hint = KindNotFound, http.StatusNotFound,
			"`godwit overlay list` lists the overlays that this node serves; `godwit overlay join` adds one"
	case errors.Is(err, node.ErrBusyOverlay):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusConflict, "`godwit jobs` lists them; `godwit cancel` ends one"
	case errors.Is(err, node.ErrRunning):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusConflict, "`godwit cancel` ends it"
	case errors.Is(err, node.ErrNotRemoved):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusConflict, "`godwit job ID --tasks` lists the tasks"
	case errors.Is(err, node.ErrUnchecked):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusConflict, "`godwit job ID --audit 20` runs tasks of it again"
	case errors.Is(err, node.ErrAmbiguous):
		e.Kind, e.Status, e.Hint = KindInput, http.StatusConflict, "`godwit overlay list` has the IDs"
	case errors.Is(err, node.ErrNotFounder):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusForbidden, "`godwit overlay show` names the founder"
	case errors.Is(err, node.ErrNotAdmitted):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusForbidden,
			"ask its founder: `godwit overlay invite` makes a ticket, `godwit overlay change --allow` makes the list"
	case errors.Is(err, node.ErrRefused):
		e.Kind, e.Status = KindRefused, http.StatusForbidden
	case errors.Is(err, blocks.ErrQuota):
		e.Kind, e.Status, e.Hint = KindRefused, http.StatusInsufficientStorage,
			"`godwit status` tells what takes the space; `godwit config set max_disk 20GiB` lends more"
	case errors.Is(err, node.ErrNoLeader), errors.Is(err, node.ErrLeaderSilent), errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Status, e.Hint = KindUnreachable, http.StatusServiceUnavailable,
			"`godwit peers` shows whom this node reaches"
	}
	return e
}

// ignoreGone drops the error of a client that went away.
func ignoreGone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

func writeError(w http.ResponseWriter, e *Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	json.NewEncoder(w).Encode(e)
}

func writeJSON(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return ignoreGone(json.NewEncoder(w).Encode(v))
}
