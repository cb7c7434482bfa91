package api

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	// watchEvery bounds how often a watcher is told: ten times a second is as
	// often as a person sees.
	watchEvery = 100 * time.Millisecond
	// watchAtLeast repeats the status though nothing was heard, so that counts
	// of what runs elsewhere stay fresh.
	watchAtLeast = time.Second
)

// watch streams a job's status, one JSON object a line, whenever it changed,
// until the job has ended or the client goes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	changes := s.node.Watch(id)
	defer changes.Close()
	to := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := json.NewEncoder(w)
	over := changes.Over
	for begun := false; ; begun = true {
		st, err := s.node.Job(r.Context(), id, 0, 0)
		switch {
		case err != nil && !begun:
			return err
		case err != nil:
			return nil // the stream has begun: its end says that something is wrong
		}
		if out.Encode(st) != nil {
			return nil
		}
		if to.Flush() != nil {
			return nil
		}
		if st.Settled() {
			return nil
		}
		there, ended := pause(r, changes.C, over)
		if !there {
			return nil
		}
		if ended { // its results may still be checked: that is told as any change is
			over = nil
		}
	}
}

// pause waits for a change, no less than watchEvery and no longer than
// watchAtLeast, and says whether the client is still there. The end of the job, which
// whoever waits for it hears at once, is told from other changes.
func pause(r *http.Request, changed, over <-chan struct{}) (there, ended bool) {
	least := time.NewTimer(watchEvery)
	defer least.Stop()
	most := time.NewTimer(watchAtLeast)
	defer most.Stop()
	select {
	case <-changed:
	case <-most.C:
	case <-r.Context().Done():
		return false, false
	}
	select {
	case <-least.C:
	case <-over:
		return true, true
	case <-r.Context().Done():
		return false, false
	}
	return true, false
}
