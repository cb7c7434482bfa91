// Package remote implements the HTTP service for experiments and its client. The service listens on loopback addresses
// only. openapi.yaml describes the API.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"godwit/api/door"
	"godwit/lab/experiment"
)

const (
	// requestTime limits the execution of a request.
	requestTime = 30 * time.Second
	// maxDefinition limits the body of a definition in bytes, with room for JSON escapes. maxBody limits other bodies.
	maxDefinition = 2*(experiment.MaxScenario+experiment.MaxFileSize) + maxBody
	maxBody       = 64 << 10
)

// handler returns the HTTP status and the JSON value for a request, or an error.
type handler func(r *http.Request) (status int, answer any, err error)

// requests implements the handlers.
type requests struct{ m *experiment.Manager }

// Handler returns the HTTP handler of a Manager. It accepts requests that contain the bearer token, if they name a
// loopback address as their host.
func Handler(m *experiment.Manager, token string) http.Handler {
	mux := http.NewServeMux()
	requests{m}.each(func(pattern string, most int64, h handler) { mux.Handle(pattern, answered(most, h)) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &Error{Status: http.StatusNotFound,
			Message: fmt.Sprintf("there is no %s %.200s", r.Method, r.URL.Path)})
	})
	d := door.Door{Keys: door.NewKeys(token, nil), Named: door.Loopback, Refuse: refuse,
		Open: func(*http.Request) bool { return false }}
	return d.Guard(mux)
}

// refuse responds to unauthorized requests.
func refuse(w http.ResponseWriter, r door.Refusal) {
	hint := "send requests from a program on this machine, to the address that `godwit experiment serve` prints"
	if r.Status == http.StatusUnauthorized {
		hint = "send the content of " + TokenName + " in the service's directory as a bearer token"
	}
	writeError(w, &Error{Message: r.Message, Hint: hint, Status: r.Status})
}

// each calls handle for each route with its maximum body size in bytes.
func (s requests) each(handle func(pattern string, most int64, h handler)) {
	handle("POST /v1/experiments", maxDefinition, s.define)
	handle("GET /v1/experiments", 0, s.definitions)
	handle("GET /v1/experiments/{id}", 0, s.definition)
	handle("DELETE /v1/experiments/{id}", 0, s.delete)
	handle("GET /v1/experiments/{id}/allocation", 0, s.allocation)
	handle("POST /v1/experiments/{id}/runs", maxBody, s.start)
	handle("GET /v1/runs", 0, s.runs)
	handle("GET /v1/runs/{id}/statistics", 0, s.statistics)
	handle("GET /v1/runs/{id}/reports", 0, s.reports)
	handle("POST /v1/runs/{id}/stop", maxBody, s.stop)
	handle("POST /v1/runs/{id}/servers/{server}/{command}", maxBody, s.server)
}

// answered returns an HTTP handler that writes the result of h as JSON.
func answered(most int64, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), requestTime)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, most)
		status, answer, err := h(r)
		if err != nil {
			writeError(w, asError(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // the client may have disconnected
	})
}

// read decodes a request body, which is one JSON value without unknown fields. An empty body does not change v.
func read(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil && d.More():
		err = errors.New("there is more than one value")
	}
	if tooLong := (*http.MaxBytesError)(nil); err == nil || errors.As(err, &tooLong) {
		return err
	}
	return &Error{Message: fmt.Sprintf("reading the request: %v", err), Status: http.StatusBadRequest,
		Hint: "send JSON as openapi.yaml describes it"}
}

func (s requests) define(r *http.Request) (int, any, error) {
	var source experiment.Source
	if err := read(r, &source); err != nil {
		return 0, nil, err
	}
	d, err := s.m.Define(r.Context(), source)
	return http.StatusCreated, d, err
}

// Summary describes an experiment in a list.
type Summary struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Defined  time.Time `json:"defined"`
	Classes  int       `json:"classes"`
	Servers  int       `json:"servers"`
	Policies []string  `json:"policies"`
	Length   float64   `json:"length"` // run length in units
}

func (s requests) definitions(r *http.Request) (int, any, error) {
	all, err := s.m.Definitions(r.Context())
	out := []Summary{}
	for _, d := range all {
		out = append(out, Summary{ID: d.ID, Name: d.Name, Defined: d.Defined, Classes: len(d.Classes),
			Servers: len(d.Servers), Policies: d.Policies, Length: d.Length})
	}
	return http.StatusOK, out, err
}

func (s requests) definition(r *http.Request) (int, any, error) {
	d, err := s.m.Definition(r.Context(), r.PathValue("id"))
	return http.StatusOK, d, err
}

func (s requests) delete(r *http.Request) (int, any, error) {
	return http.StatusOK, struct{}{}, s.m.Delete(r.Context(), r.PathValue("id"))
}

func (s requests) allocation(r *http.Request) (int, any, error) {
	d, err := s.m.Definition(r.Context(), r.PathValue("id"))
	if err != nil {
		return 0, nil, err
	}
	a, err := d.Solve()
	return http.StatusOK, a, err
}

func (s requests) start(r *http.Request) (int, any, error) {
	var o experiment.RunOptions
	if err := read(r, &o); err != nil {
		return 0, nil, err
	}
	st, err := s.m.Start(r.Context(), r.PathValue("id"), o)
	return http.StatusCreated, st, err
}

func (s requests) runs(r *http.Request) (int, any, error) {
	all, err := s.m.Runs(r.Context())
	return http.StatusOK, append([]experiment.RunStatus{}, all...), err
}

func (s requests) statistics(r *http.Request) (int, any, error) {
	st, err := s.m.Statistics(r.Context(), r.PathValue("id"))
	return http.StatusOK, st, err
}

func (s requests) reports(r *http.Request) (int, any, error) {
	all, err := s.m.Reports(r.Context(), r.PathValue("id"))
	return http.StatusOK, append([]experiment.Report{}, all...), err
}

func (s requests) stop(r *http.Request) (int, any, error) {
	st, err := s.m.Stop(r.Context(), r.PathValue("id"))
	return http.StatusOK, st, err
}

func (s requests) server(r *http.Request) (int, any, error) {
	reply, err := s.m.Control(r.Context(), r.PathValue("id"), r.PathValue("server"), r.PathValue("command"))
	return http.StatusOK, reply, err
}
