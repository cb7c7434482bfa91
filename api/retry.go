package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"godwit/node"
	"godwit/task"
)

// maxRetry bounds a RetryRequest, in bytes.
const maxRetry = 1 << 10

// retry hands in a job of the tasks of another that failed.
func (s *Server) retry(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	var req RetryRequest
	if err := readJSON(w, r, maxRetry, &req); err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	if req.Module != "" {
		if req.Module, err = task.ParseCID(string(req.Module)); err != nil {
			return inputError(err)
		}
	}
	again, err := s.node.RunFailed(r.Context(), id, req.Module, req.Stage)
	if errors.Is(err, node.ErrNoneFailed) {
		return &Error{Message: err.Error(), Kind: KindRefused, Status: http.StatusConflict,
			Hint: "`godwit run` or `godwit map` hands all of it in anew"}
	}
	if errors.Is(err, node.ErrNoStage) || errors.Is(err, node.ErrWhichStage) {
		return &Error{Message: err.Error(), Kind: KindInput, Status: http.StatusBadRequest,
			Hint: "write --module STAGE=FILE.wasm with a stage of the job: `godwit job` draws them"}
	}
	return writeJSON(w, SubmitReply{ID: again}, offeredError(r.Context(), again, err))
}

// Retry hands in a job of the tasks of another that failed, or never ran, with another module unless that is
// "", and returns once it is accepted. stage is whose module it is of a job with stages, as in RetryRequest.
func (c *Client) Retry(ctx context.Context, ref string, module task.CID, stage string) (task.JobID, error) {
	b, err := json.Marshal(RetryRequest{Module: module, Stage: stage})
	if err != nil {
		return "", err
	}
	var reply SubmitReply
	err = c.call(ctx, http.MethodPost, jobPath(ref, "/retry"), bytes.NewReader(b), &reply)
	return reply.ID, err
}
