package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"godwit/api/view"
	"godwit/node"
	"godwit/task"
)

// routes serves the whole API.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h handler) {
		mux.HandleFunc(pattern, answer(h, s.limit(pattern)))
	}
	s.each(handle)
	handle("/", func(_ http.ResponseWriter, r *http.Request) error {
		return &Error{Message: fmt.Sprintf("the API has no %s %s", r.Method, r.URL.Path), Kind: KindNotFound,
			Status: http.StatusNotFound}
	})
	return mux
}

// each calls handle for every route; openapi.yaml describes them, and a test holds them to it.
func (s *Server) each(handle func(pattern string, h handler)) {
	pages{s}.each(handle)
	s.monitoring.each(handle)
	handle("GET /v1/status", s.status)
	handle("POST /v1/jobs/{id}/results", s.newResults)
	handle("POST /v1/jobs/{id}/retry", s.retry)
	handle("POST /v1/jobs/{id}/tasks", s.addTasks)
	handle("POST /v1/pause", s.pause)
	handle("POST /v1/drain", s.drain)
	handle("POST /v1/resume", s.resume)
	handle("GET /v1/doctor", s.doctor)
	handle("GET /v1/peers", s.peers)
	handle("POST /v1/peers", s.addPeer)
	handle("GET /v1/peers/added", s.addedPeers)
	handle("DELETE /v1/peers/{peer}", s.removePeer)
	handle("GET /v1/peers/{peer}/history", s.history)
	handle("GET /v1/peers/{peer}/forecast", s.forecast)
	handle("GET /v1/overlays", s.listOverlays)
	handle("POST /v1/overlays", s.createOverlay)
	handle("POST /v1/overlays/join", s.joinOverlay)
	handle("GET /v1/overlays/{id}", s.showOverlay)
	handle("PUT /v1/overlays/{id}", s.changeOverlay)
	handle("DELETE /v1/overlays/{id}", s.leaveOverlay)
	handle("POST /v1/overlays/{id}/invite", s.invite)
	handle("GET /v1/overlays/{id}/scheduling", s.scheduling)
	handle("GET /v1/overlays/{id}/credit", pages{s}.poolCredit)
	handle("GET /v1/credit", pages{s}.credit)
	handle("POST /v1/keys", s.newKey)
	handle("POST /v1/files", s.putFile)
	handle("GET /v1/files/{cid}", s.getFile)
	handle("HEAD /v1/files/{cid}", s.hasFile)
	handle("POST /v1/tables", s.putTable)
	handle("GET /v1/trees/{cid}", s.getTree)
	handle("POST /v1/plan", s.plan)
	handle("POST /v1/jobs", s.submit)
	handle("POST /v1/jobs/check", s.check)
	handle("GET /v1/jobs", s.jobs)
	handle("GET /v1/jobs/{id}", s.job)
	handle("GET /v1/jobs/{id}/watch", s.watch)
	handle("GET /v1/jobs/{id}/results", s.results)
	handle("DELETE /v1/jobs/{id}/results", s.forget)
	handle("POST /v1/jobs/{id}/checks", s.checkMore)
	handle("GET /v1/jobs/{id}/why", s.why)
	handle("GET /v1/jobs/{id}/end", s.end)
	handle("POST /v1/jobs/{id}/cancel", s.cancel)
	handle("GET /v1/jobs/{id}/outputs", s.outputs)
	handle("GET /v1/jobs/{id}/tasks/{task}/outputs/{name...}", s.output)
}

// each is Server.each of them.
func (s pages) each(handle func(pattern string, h handler)) {
	in := sessions{s.Server}
	handle("GET /v1/session", in.session)
	handle("POST /v1/session", in.beginSession)
	handle("DELETE /v1/session", in.endSession)
	handle("POST /v1/session/codes", in.newCode)
	handle("POST /v1/session/tickets", in.newTicket)
	handle("GET /v1/events", s.events)
	handle("GET /v1/home", s.home)
	handle("GET /v1/machine", s.machine)
	handle("POST /v1/machine/preview", s.previewRule)
	handle("PUT /v1/machine/rules/{key}", s.setRule)
	handle("GET /v1/joblist", s.jobList)
	handle("GET /v1/jobs/{id}/grid", s.grid)
	handle("GET /v1/jobs/{id}/timeline", s.timeline)
	handle("GET /v1/jobs/{id}/failures", s.failures)
	handle("GET /v1/jobs/{id}/stages", s.stages)
	handle("GET /v1/jobs/{id}/archive", s.archive)
	handle("GET /v1/swarm", s.swarm)
	handle("GET /v1/pools", s.pools)
	handle("PUT /v1/overlays/{id}/share", s.setShare)
	handle("DELETE /v1/overlays/{id}/members/{peer}", s.removeMember)
	handle("GET /v1/research", s.research)
	handle("GET /v1/peers/{peer}/trace", s.exportTrace)
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	st, err := s.node.Status(r.Context())
	return writeJSON(w, st, err)
}

func (s *Server) peers(w http.ResponseWriter, r *http.Request) error {
	overlay := r.URL.Query().Get("overlay")
	if overlay != "" {
		id, err := s.overlayID(r.Context(), overlay)
		if err != nil {
			return err
		}
		overlay = id
	}
	m, err := s.node.Members(r.Context(), overlay)
	return writeJSON(w, m, err)
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) error {
	var req SubmitRequest
	if err := readJSON(w, r, MaxJobFile, &req); err != nil {
		return inputError(fmt.Errorf("reading the submission: %w", err))
	}
	sub, err := readSubmission(r.Context(), s, &req)
	if err != nil {
		return err
	}
	id, err := s.node.Submit(r.Context(), sub)
	return writeJSON(w, SubmitReply{ID: id}, offeredError(r.Context(), id, err))
}

// readSubmission reads a submission to an overlay that a server's node serves.
func readSubmission(ctx context.Context, s *Server, req *SubmitRequest) (sub node.Submission, err error) {
	sub = node.Submission{Module: req.Module, Inputs: map[string]task.FileRef{}, Key: req.Key, Reuse: req.Reuse}
	if sub.Overlay, err = s.overlayOrUsual(ctx, req.Overlay); err != nil {
		return sub, err
	}
	if req.File == "" {
		sub.File = task.DefaultFile(req.FileName, req.Args)
	} else {
		f, err := task.ParseFile(req.FileName, []byte(req.File))
		if err != nil {
			return sub, err
		}
		if err := f.SetModules(req.Modules); err != nil {
			return sub, err
		}
		sub.File = f
	}
	for _, in := range req.Inputs {
		sub.Inputs[in.Name] = in
	}
	for _, axis := range slices.Sorted(maps.Keys(req.Tables)) {
		if err := sub.File.SetTable(axis, req.Tables[axis]); err != nil {
			return sub, err
		}
	}
	return sub, nil
}

func (s *Server) jobs(w http.ResponseWriter, r *http.Request) error {
	jobs, err := s.node.Jobs(r.Context())
	return writeJSON(w, jobs, err)
}

func (s *Server) job(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	from, limit, err := page(r, node.MaxTaskList)
	if err != nil {
		return err
	}
	st, err := s.node.Job(r.Context(), id, from, limit)
	if err == nil {
		s.node.ShowRows(r.Context(), &st)
	}
	return writeJSON(w, st, err)
}

func (s *Server) results(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	from, limit, err := page(r, resultPage)
	if err != nil {
		return err
	}
	tasks, err := s.node.Results(r.Context(), id, from, min(limit, resultPage))
	if err != nil {
		return err
	}
	return s.writeResults(w, r, id, &Results{Tasks: tasks}, from == 0)
}

func (s *Server) why(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	var index *uint64
	if q := r.URL.Query().Get("index"); q != "" {
		i, err := strconv.ParseUint(q, 10, 64)
		if err != nil {
			return inputError(fmt.Errorf("reading the task's index: %w", err))
		}
		index = &i
	}
	rows, err := number(r, "rows", view.MaxRows, view.MaxRows)
	if err != nil {
		return err
	}
	peers, err := number(r, "peers", node.MostWhyPeers, view.MaxRows)
	if err != nil {
		return err
	}
	why, err := s.node.Why(r.Context(), id, index)
	if err == nil {
		bytes := view.SomeRows
		if rows == view.MaxRows { // nobody asks for a few of them to show beside other things
			bytes = view.MostRows
		}
		why.Keep(rows, peers)
		why.Keep(len(view.Within(why.Reasons, bytes)), peers)
	}
	return writeJSON(w, why, err)
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	soon, err := flagOf(r, "soon")
	if err != nil {
		return err
	}
	if text := r.URL.Query().Get("tasks"); text != "" {
		tasks, err := parseTasks(text)
		switch {
		case err != nil:
			return inputError(err)
		case soon:
			return inputError(errors.New("single tasks end at once, so soon does not go with them"))
		}
		_, err = s.node.RemoveTasks(r.Context(), id, tasks)
		return writeJSON(w, SubmitReply{ID: id}, err)
	}
	return writeJSON(w, SubmitReply{ID: id}, s.node.Cancel(r.Context(), id, soon))
}

func (s *Server) checkMore(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	n, err := countOf(r, "tasks")
	if err != nil {
		return err
	}
	return writeJSON(w, SubmitReply{ID: id}, s.node.CheckMore(r.Context(), id, n))
}

func (s *Server) forget(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	return writeJSON(w, SubmitReply{ID: id}, s.node.Forget(r.Context(), id))
}
