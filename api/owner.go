package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"godwit/node"
	"godwit/owner"
)

// A PauseRequest is the owner's word that nothing is to run.
type PauseRequest struct {
	For float64 `json:"for_s"` // seconds; 0: until resumed
}

// maxPause bounds a pause with an end, and the body that asks for it.
const (
	maxPause     = 366 * 24 * time.Hour
	maxPauseBody = 1 << 10
)

func (s *Server) pause(w http.ResponseWriter, r *http.Request) error {
	var req PauseRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPauseBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the pause: %w", err))
	}
	if !(req.For >= 0 && req.For <= maxPause.Seconds()) {
		return inputError(errors.New("for_s must be seconds, from 0 to a year"))
	}
	if err := s.node.Pause(r.Context(), time.Duration(req.For*float64(time.Second))); err != nil {
		return err
	}
	return s.status(w, r)
}

func (s *Server) drain(w http.ResponseWriter, r *http.Request) error {
	if err := s.node.Drain(r.Context()); err != nil {
		return err
	}
	return s.status(w, r)
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) error {
	if err := s.node.Resume(r.Context()); err != nil {
		return err
	}
	return s.status(w, r)
}

func (s *Server) doctor(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, s.node.Examine(r.Context()), nil)
}

// Pause stops all tasks of the node at once, for d or, where that is 0, until
// Resume. It returns the node's new state.
func (c *Client) Pause(ctx context.Context, d time.Duration) (s node.Status, err error) {
	b, err := json.Marshal(PauseRequest{For: d.Seconds()})
	if err != nil {
		return s, err
	}
	return s, c.call(ctx, http.MethodPost, "/v1/pause", bytes.NewReader(b), &s)
}

// Drain has the node take nothing new and what runs there move to others, until
// Resume. It returns the node's new state.
func (c *Client) Drain(ctx context.Context) (s node.Status, err error) {
	return s, c.call(ctx, http.MethodPost, "/v1/drain", nil, &s)
}

// Resume takes back a Pause and a Drain. It returns the node's new state.
func (c *Client) Resume(ctx context.Context) (s node.Status, err error) {
	return s, c.call(ctx, http.MethodPost, "/v1/resume", nil, &s)
}

// Doctor returns what the node's checks of its machine came to.
func (c *Client) Doctor(ctx context.Context) (f []owner.Finding, err error) {
	return f, c.get(ctx, "/v1/doctor", nil, &f)
}
