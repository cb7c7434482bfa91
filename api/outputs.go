package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/scheduler/message"
	"godwit/task"
)

// An OutputPage has ended tasks of a job that the node submitted, with what they put out, for
// programs that do not check signatures themselves: the node has checked them.
type OutputPage struct {
	Total uint64        `json:"total"` // tasks of the job
	Next  uint64        `json:"next"`  // from which index on to ask for more; Total once there is no more
	Tasks []TaskOutputs `json:"tasks"` // in order; those that have not ended are left out
}

// TaskOutputs is an ended task.
type TaskOutputs struct {
	Index    uint64            `json:"index"`
	Params   map[string]string `json:"params"`
	Failed   bool              `json:"failed"`
	Reason   string            `json:"reason,omitempty"`  // why it failed
	Outcome  string            `json:"outcome"`           // of its last run; "unknown" if it never ran
	ExitCode uint32            `json:"exit_code"`         // of its last run
	Workers  []task.PeerID     `json:"workers"`           // that came to this
	Outputs  []OutputContent   `json:"outputs"`           // by name
	Message  string            `json:"message,omitempty"` // a worker's words on its failure
}

// OutputContent is one output of a task. Size counts what it holds, whether it is kept sealed or not.
type OutputContent struct {
	Name string   `json:"name"`
	CID  task.CID `json:"cid"` // of what is kept
	Size int64    `json:"size"`
	// Content is what it holds, where that came with the result (task.MaxInline bytes at most); nil
	// where it is to be asked for.
	Content []byte `json:"content,omitempty"`
}

const (
	// outputPage is how many tasks a page of outputs has at most, outputBytes at how much content it
	// ends: a page is held in memory, by the node and by who asks.
	outputPage  = 1000
	outputBytes = 4 << 20
)

func (s *Server) outputs(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	from, limit, err := page(r, outputPage)
	if err != nil {
		return err
	}
	spec, sealer, err := s.opened(r.Context(), id)
	if err != nil {
		return err
	}
	ended, err := s.node.Results(r.Context(), id, from, limit)
	if err != nil {
		return err
	}
	reply, err := newOutputPage(spec, sealer, ended)
	return writeJSON(w, reply, err)
}

// newOutputPage tells of ended tasks, in order, as many as a page takes.
func newOutputPage(spec *task.Job, sealer *seal.Sealer, ended []message.TaskSummary) (OutputPage, error) {
	total := spec.Tasks()
	reply := OutputPage{Total: total, Next: total, Tasks: []TaskOutputs{}}
	held := 0
	for i := range ended {
		t, n, err := newTaskOutputs(spec, sealer, &ended[i])
		if err != nil {
			return reply, fmt.Errorf("task %d: %w", ended[i].Index, err)
		}
		reply.Tasks = append(reply.Tasks, t)
		reply.Next = t.Index + 1
		if held += n; held >= outputBytes {
			break
		}
	}
	return reply, nil
}

// newTaskOutputs tells of one task, and how many bytes of content that has.
func newTaskOutputs(spec *task.Job, sealer *seal.Sealer, t *message.TaskSummary) (TaskOutputs, int, error) {
	st := t.Status(spec)
	out := TaskOutputs{Index: t.Index, Params: st.Params, Failed: t.Failed, Reason: t.Reason,
		Outcome: task.OutcomeUnknown.String(), Workers: []task.PeerID{}, Outputs: []OutputContent{}}
	if len(t.Results) == 0 {
		return out, 0, nil
	}
	last := &t.Results[0]
	out.Outcome, out.ExitCode, out.Message, out.Workers = last.Outcome.String(), last.ExitCode, last.Message,
		st.Result.Workers
	held := 0
	for _, o := range last.Outputs {
		c := OutputContent{Name: o.Name, CID: o.CID}
		var err error
		if c.Size, err = sealer.Plain(o.Size); err != nil {
			return out, 0, fmt.Errorf("output %s: %w", o.Name, err)
		}
		if int64(len(o.Inline)) == o.Size && o.Size > 0 {
			if c.Content, err = sealer.OpenFile(o.Inline); err != nil {
				return out, 0, fmt.Errorf("output %s: %w", o.Name, err)
			}
		}
		held += len(c.Content)
		out.Outputs = append(out.Outputs, c)
	}
	return out, held, nil
}

func (s *Server) output(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	index, err := strconv.ParseUint(r.PathValue("task"), 10, 64)
	if err != nil {
		return inputError(fmt.Errorf("reading the task's index: %w", err))
	}
	_, sealer, err := s.opened(r.Context(), id)
	if err != nil {
		return err
	}
	o, err := s.findOutput(r.Context(), id, index, r.PathValue("name"))
	if err != nil {
		return err
	}
	content, err := s.openOutput(r.Context(), o)
	if err != nil {
		return err
	}
	defer content.Close()
	size, err := sealer.Plain(o.Size)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, err = io.Copy(w, sealer.Opening(content))
	return ignoreGone(err)
}

// opened returns a job that this node submitted, and what opens its outputs; nil where it is not sealed.
func (s *Server) opened(ctx context.Context, id task.JobID) (*task.Job, *seal.Sealer, error) {
	rec, spec, err := s.node.Submitted(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	sealer, err := seal.New(rec.Key)
	return spec, sealer, err
}

// findOutput returns an output of an ended task by its name.
func (s *Server) findOutput(ctx context.Context, id task.JobID, index uint64, name string) (task.Output, error) {
	ended, err := s.node.Results(ctx, id, index, 1)
	if err != nil {
		return task.Output{}, err
	}
	if len(ended) == 0 || ended[0].Index != index {
		return task.Output{}, &Error{Message: fmt.Sprintf("task %d has no result here", index), Kind: KindNotFound,
			Status: http.StatusNotFound, Hint: "`godwit why` tells what it waits for"}
	}
	if len(ended[0].Results) > 0 {
		for _, o := range ended[0].Results[0].Outputs {
			if o.Name == name {
				return o, nil
			}
		}
	}
	return task.Output{}, &Error{Message: fmt.Sprintf("task %d has no output %q", index, name), Kind: KindNotFound,
		Status: http.StatusNotFound, Hint: "the job file's outputs say which files are kept"}
}

// openOutput reads what is kept of an output: with its result, or in blocks.
func (s *Server) openOutput(ctx context.Context, o task.Output) (io.ReadCloser, error) {
	if int64(len(o.Inline)) == o.Size {
		return io.NopCloser(bytes.NewReader(o.Inline)), nil
	}
	f, size, err := s.node.Blocks().Open(ctx, o.CID, blocks.AtMost(task.MaxOutputBytes))
	if err != nil {
		return nil, err
	}
	if size != o.Size {
		f.Close()
		return nil, fmt.Errorf("%s has %d bytes, and its result says %d", o.Name, size, o.Size)
	}
	return f, nil
}

// Outputs returns ended tasks of a job from index from on, with what they put out, as many as fit a
// page. The node has checked the results; who wants to check them again takes Results.
func (c *Client) Outputs(ctx context.Context, ref string, from uint64) (p OutputPage, err error) {
	return p, c.get(ctx, jobPath(ref, "/outputs"), url.Values{"from": {strconv.FormatUint(from, 10)}}, &p)
}

// OpenOutput reads an output of an ended task, by its name. Close it.
func (c *Client) OpenOutput(ctx context.Context, ref string, index uint64, name string) (io.ReadCloser, error) {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(p), ".", "%2E")
	}
	path := fmt.Sprintf("/tasks/%d/outputs/%s", index, strings.Join(parts, "/"))
	resp, err := c.do(ctx, http.MethodGet, jobPath(ref, path), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
