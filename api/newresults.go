package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"godwit/scheduler/message"
	"godwit/task"
)

// maxHaveBytes bounds a Have, in bytes: two numbers of up to nine bytes for each range.
const maxHaveBytes = 20*message.MaxHave + 64

// newResults answers with ended tasks that the client does not have. It waits for a change where there are
// none.
func (s *Server) newResults(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHaveBytes))
	if err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	var have Have
	if err := task.Decode(b, &have); err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	if _, err := message.Without(nil, have.Ranges); err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	changes := s.node.Watch(id)
	defer changes.Close()
	var reply Results
	for waited := false; ; waited = true {
		if reply.Tasks, reply.Final, err = s.node.NewResults(r.Context(), id, have.Ranges, resultPage); err != nil {
			return err
		}
		if len(reply.Tasks) > 0 || reply.Final || waited {
			break
		}
		if there, _ := pause(r, changes.C, changes.Over); !there {
			break
		}
	}
	return s.writeResults(w, r, id, &reply, have.Record)
}

// writeResults answers with a page of results, and the job itself if it is wanted.
func (s *Server) writeResults(w http.ResponseWriter, r *http.Request, id task.JobID, reply *Results,
	record bool) error {
	rec, spec, err := s.node.Submitted(r.Context(), id)
	if err != nil {
		return err
	}
	if reply.Total = spec.Tasks(); record {
		reply.Record = &rec
	}
	b, err := task.Encode(reply)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/cbor")
	_, err = w.Write(b)
	return ignoreGone(err)
}

// NewResults returns ended tasks of a job that the node submitted and that are not among those that the
// caller has, as soon as there are some; none after some seconds, or where Final says that there will be none.
func (c *Client) NewResults(ctx context.Context, ref string, have Have) (Results, error) {
	b, err := task.Encode(&have)
	if err != nil {
		return Results{}, err
	}
	resp, err := c.do(ctx, http.MethodPost, jobPath(ref, "/results"), bytes.NewReader(b))
	if err != nil {
		return Results{}, err
	}
	return readResults(resp)
}

// readResults reads a page of results and closes the answer.
func readResults(resp *http.Response) (Results, error) {
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Results{}, fmt.Errorf("reading results: %w", err)
	}
	var page Results
	if err := task.Decode(b, &page); err != nil {
		return Results{}, fmt.Errorf("reading results: %w", err)
	}
	return page, nil
}
