package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// A handler answers a request, or returns why it cannot.
type handler func(w http.ResponseWriter, r *http.Request) error

// routes serves the whole API.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h handler) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				writeError(w, asError(err))
			}
		})
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
	handle("GET /v1/overlays/{id}/credit", s.poolCredit)
	handle("GET /v1/credit", s.credit)
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
	handle("GET /v1/jobs/{id}/why", s.why)
	handle("GET /v1/jobs/{id}/end", s.end)
	handle("POST /v1/jobs/{id}/cancel", s.cancel)
	handle("GET /v1/jobs/{id}/outputs", s.outputs)
	handle("GET /v1/jobs/{id}/tasks/{task}/outputs/{name...}", s.output)
}

// pages are the routes of which the dashboard is made, beside those that programs use too.
type pages struct{ *Server }

// each is Server.each of them.
func (s pages) each(handle func(pattern string, h handler)) {
	in := sessions{s.Server}
	handle("GET /v1/session", in.session)
	handle("POST /v1/session", in.beginSession)
	handle("DELETE /v1/session", in.endSession)
	handle("POST /v1/session/codes", in.newCode)
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

func (s *Server) putFile(w http.ResponseWriter, r *http.Request) error {
	sealer, err := sealerOf(r.Header.Get(KeyHeader))
	if err != nil {
		return inputError(err)
	}
	body := sealer.Sealing(http.MaxBytesReader(w, r.Body, MaxFile))
	c, size, err := s.node.Blocks().Import(r.Context(), body)
	return writeJSON(w, FileReply{CID: c, Size: size}, err)
}

// newKey gives a key for the inputs of a job that is handed to an overlay: of that of a name, where one is given.
func (s *Server) newKey(w http.ResponseWriter, r *http.Request) error {
	id, err := s.overlayOrUsual(r.Context(), r.URL.Query().Get("overlay"))
	if err != nil {
		return err
	}
	key, err := s.node.SealingKey(r.Context(), id, r.URL.Query().Get("like"))
	return writeJSON(w, KeyReply{Key: key}, err)
}

// overlayOrUsual is overlayID that leaves "" to the node.
func (s *Server) overlayOrUsual(ctx context.Context, nameOrID string) (string, error) {
	if nameOrID == "" {
		return "", nil
	}
	return s.overlayID(ctx, nameOrID)
}

// sealerOf returns the sealer of a key in base64; nil for none.
func sealerOf(key string) (*seal.Sealer, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	return seal.New(raw)
}

func (s *Server) getTree(w http.ResponseWriter, r *http.Request) error {
	c, err := task.ParseCID(r.PathValue("cid"))
	if err != nil {
		return inputError(err)
	}
	links, err := s.node.Blocks().Tree(r.Context(), c)
	if err != nil {
		return err
	}
	out := make(map[string]task.CID, len(links))
	for _, l := range links {
		out[l.Name] = l.CID
	}
	return writeJSON(w, out, nil)
}

// hasFile answers whether all of a file is here, without its bytes. What is asked for may be
// handed in with a job soon: it counts as used.
func (s *Server) hasFile(w http.ResponseWriter, r *http.Request) error {
	c, err := task.ParseCID(r.PathValue("cid"))
	if err != nil {
		return inputError(err)
	}
	here, err := s.node.Blocks().HasAll(r.Context(), c)
	if err == nil && !here {
		err = fmt.Errorf("%w: %s", blocks.ErrNotFound, c)
	}
	if err == nil {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	return err
}

func (s *Server) getFile(w http.ResponseWriter, r *http.Request) error {
	c, err := task.ParseCID(r.PathValue("cid"))
	if err != nil {
		return inputError(err)
	}
	sealer, err := s.sealerOfJob(r.Context(), r.URL.Query().Get("job"))
	if err != nil {
		return err
	}
	f, size, err := s.node.Blocks().Open(r.Context(), c, blocks.AtMost(maxStored))
	if err != nil {
		return err
	}
	defer f.Close()
	if size, err = sealer.Plain(size); err != nil {
		return inputError(err)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, err = io.Copy(w, sealer.Opening(f))
	return ignoreGone(err)
}

// sealerOfJob returns the sealer of a job that this node submitted; nil for "", and for a job
// that is not sealed.
func (s *Server) sealerOfJob(ctx context.Context, ref string) (*seal.Sealer, error) {
	if ref == "" {
		return nil, nil
	}
	id, err := s.jobOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	rec, _, err := s.node.Submitted(ctx, id)
	if err != nil {
		return nil, err
	}
	return seal.New(rec.Key)
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) error {
	var req SubmitRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxJobFile)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the submission: %w", err))
	}
	sub := node.Submission{Module: req.Module, Inputs: map[string]task.FileRef{}, Key: req.Key, Reuse: req.Reuse}
	var err error
	if sub.Overlay, err = s.overlayOrUsual(r.Context(), req.Overlay); err != nil {
		return err
	}
	if req.File == "" {
		sub.File = task.DefaultFile(req.FileName, req.Args)
	} else {
		f, err := task.ParseFile(req.FileName, []byte(req.File))
		if err != nil {
			return err
		}
		if err := f.SetModules(req.Modules); err != nil {
			return err
		}
		sub.File = f
	}
	for _, in := range req.Inputs {
		sub.Inputs[in.Name] = in
	}
	for _, axis := range slices.Sorted(maps.Keys(req.Tables)) {
		if err := sub.File.SetTable(axis, req.Tables[axis]); err != nil {
			return err
		}
	}
	id, err := s.node.Submit(r.Context(), sub)
	return writeJSON(w, SubmitReply{ID: id}, err)
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
	why, err := s.node.Why(r.Context(), id, index)
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
	return writeJSON(w, SubmitReply{ID: id}, s.node.Cancel(r.Context(), id, soon))
}

func (s *Server) forget(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	return writeJSON(w, SubmitReply{ID: id}, s.node.Forget(r.Context(), id))
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

func resolve(ref string, jobs []message.JobStatus) (task.JobID, error) {
	var found []task.JobID
	for _, j := range jobs {
		if matches(ref, j) {
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
		Hint:   "give more of the ID; its end differs soonest"}
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
