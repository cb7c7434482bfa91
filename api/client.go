package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"godwit/api/view"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Client talks to one node's API. Its methods return *Error for whatever
// the node itself answered, ErrNoNode when none is there, and ErrSilent if the node stops sending.
type Client struct {
	http  *http.Client
	base  string
	token string
}

// ErrNoNode says that no node answers where one was expected.
var ErrNoNode = errors.New("api: no node answers")

// Dial returns a client of the node of that data directory, by its socket.
func Dial(dir string) *Client {
	path := filepath.Join(dir, SocketName)
	return &Client{base: "http://node", http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{Timeout: dialTime}
			return d.DialContext(ctx, "unix", path)
		},
	}}}
}

// DialTCP returns a client of the node at a TCP address. The token is the
// content of TokenName in that node's data directory.
func DialTCP(addr, token string) *Client {
	return &Client{base: "http://" + addr, token: strings.TrimSpace(token), http: &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTime}).DialContext}}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status describes the node.
func (c *Client) Status(ctx context.Context) (s node.Status, err error) {
	return s, c.get(ctx, "/v1/status", nil, &s)
}

// Peers lists the members that the node knows: of one overlay, or with "" of
// all that it serves.
func (c *Client) Peers(ctx context.Context, overlay string) (m []node.Member, err error) {
	q := url.Values{}
	if overlay != "" {
		q.Set("overlay", overlay)
	}
	return m, c.get(ctx, "/v1/peers", q, &m)
}

// PutFile stores content at the node.
func (c *Client) PutFile(ctx context.Context, r io.Reader) (f FileReply, err error) {
	return f, c.call(ctx, http.MethodPost, "/v1/files", r, &f)
}

// NewKey returns a key for the inputs of one job that is handed to an overlay, by its name or ID,
// "" for the node's usual; nil where jobs are not sealed. The node refuses a second job with the same key.
func (c *Client) NewKey(ctx context.Context, overlay string) ([]byte, error) {
	path := "/v1/keys"
	if overlay != "" {
		path += "?" + url.Values{"overlay": {overlay}}.Encode()
	}
	var reply KeyReply
	err := c.call(ctx, http.MethodPost, path, nil, &reply)
	return reply.Key, err
}

// PutSealed stores content at the node, sealed under a key; with none as it is.
func (c *Client) PutSealed(ctx context.Context, key []byte, r io.Reader) (f FileReply, err error) {
	if len(key) == 0 {
		return c.PutFile(ctx, r)
	}
	resp, err := c.doWith(ctx, http.MethodPost, "/v1/files", r, http.Header{
		KeyHeader: {base64.StdEncoding.EncodeToString(key)}})
	if err != nil {
		return f, err
	}
	err = decodeAnswer(resp, &f)
	return f, err
}

// OpenFile reads content from the node's blocks. Close it.
func (c *Client) OpenFile(ctx context.Context, cid task.CID) (io.ReadCloser, error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/files/"+string(cid), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// HasFile reports whether all of a file is among the node's blocks.
func (c *Client) HasFile(ctx context.Context, cid task.CID) (bool, error) {
	resp, err := c.do(ctx, http.MethodHead, "/v1/files/"+string(cid), nil)
	if e := (*Error)(nil); errors.As(err, &e) && e.Status == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, resp.Body.Close()
}

// OpenFileOf is OpenFile of content of a job that the node submitted, which is opened where it is sealed.
func (c *Client) OpenFileOf(ctx context.Context, cid task.CID, job string) (io.ReadCloser, error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/files/"+string(cid)+"?"+url.Values{"job": {job}}.Encode(), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Tree lists the files of a tree among the node's blocks, by name: the state before a part that was wrong.
func (c *Client) Tree(ctx context.Context, cid task.CID) (files map[string]task.CID, err error) {
	err = c.get(ctx, "/v1/trees/"+string(cid), nil, &files)
	return files, err
}

// Submit hands in a job and returns once it is accepted and durable.
func (c *Client) Submit(ctx context.Context, req SubmitRequest) (task.JobID, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return "", fmt.Errorf("encoding the submission: %w", err)
	}
	var reply SubmitReply
	err = c.call(ctx, http.MethodPost, "/v1/jobs", bytes.NewReader(b), &reply)
	return reply.ID, err
}

// Jobs lists the jobs known to the node, the newest first.
func (c *Client) Jobs(ctx context.Context) (j []message.JobStatus, err error) {
	return j, c.get(ctx, "/v1/jobs", nil, &j)
}

// Decisions lists what the node decided last and why, the newest first.
func (c *Client) Decisions(ctx context.Context) ([]node.Decision, error) {
	var r view.Research
	err := c.get(ctx, "/v1/research", nil, &r)
	return r.Decisions, err
}

// Job returns the status of the job that ref names, with every task that fits
// one answer (node.MaxTaskList).
func (c *Client) Job(ctx context.Context, ref string) (j message.JobStatus, err error) {
	return j, c.get(ctx, jobPath(ref, ""), nil, &j)
}

// JobTasks is Job with at most limit of the tasks of which anything is known, from
// index from on; no more than fit one answer.
func (c *Client) JobTasks(ctx context.Context, ref string, from uint64, limit int) (j message.JobStatus, err error) {
	q := url.Values{"from": {strconv.FormatUint(from, 10)}, "limit": {strconv.Itoa(limit)}}
	return j, c.get(ctx, jobPath(ref, ""), q, &j)
}

// Why explains a task, or the whole job where index is nil.
func (c *Client) Why(ctx context.Context, ref string, index *uint64) (w node.Why, err error) {
	q := url.Values{}
	if index != nil {
		q.Set("index", strconv.FormatUint(*index, 10))
	}
	return w, c.get(ctx, jobPath(ref, "/why"), q, &w)
}

// Cancel ends a job that the node submitted.
func (c *Client) Cancel(ctx context.Context, ref string) (task.JobID, error) {
	var reply SubmitReply
	err := c.call(ctx, http.MethodPost, jobPath(ref, "/cancel"), nil, &reply)
	return reply.ID, err
}

// CancelSoon has no more of a job begun that the node submitted: it ends when what runs of it has.
func (c *Client) CancelSoon(ctx context.Context, ref string) (task.JobID, error) {
	var reply SubmitReply
	err := c.call(ctx, http.MethodPost, jobPath(ref, "/cancel")+"?soon=true", nil, &reply)
	return reply.ID, err
}

// CancelTasks ends tasks of a job that the node submitted: of numbers and ranges such as "5-20,30".
func (c *Client) CancelTasks(ctx context.Context, ref, tasks string) (task.JobID, error) {
	var reply SubmitReply
	path := jobPath(ref, "/cancel") + "?" + url.Values{"tasks": {tasks}}.Encode()
	err := c.call(ctx, http.MethodPost, path, nil, &reply)
	return reply.ID, err
}

// CheckMore has the node run so many tasks of a job again beyond the limit for checks, 0 for all that wait for that.
func (c *Client) CheckMore(ctx context.Context, ref string, tasks uint64) (task.JobID, error) {
	var reply SubmitReply
	path := jobPath(ref, "/checks") + "?tasks=" + strconv.FormatUint(tasks, 10)
	err := c.call(ctx, http.MethodPost, path, nil, &reply)
	return reply.ID, err
}

// Forget drops a job that the node submitted and that is over, and its results.
func (c *Client) Forget(ctx context.Context, ref string) (task.JobID, error) {
	var reply SubmitReply
	err := c.call(ctx, http.MethodDelete, jobPath(ref, "/results"), nil, &reply)
	return reply.ID, err
}

// Results returns the ended tasks that the node holds from index from on, as
// many as fit a page. An empty page is the last.
func (c *Client) Results(ctx context.Context, ref string, from uint64) (Results, error) {
	resp, err := c.do(ctx, http.MethodGet, jobPath(ref, "/results")+"?from="+strconv.FormatUint(from, 10), nil)
	if err != nil {
		return Results{}, err
	}
	return readResults(resp)
}

// Watch calls f with the job's status each time it changed, until the job has
// ended, f returns false, or ctx ends.
func (c *Client) Watch(ctx context.Context, ref string, f func(message.JobStatus) bool) error {
	resp, err := c.do(ctx, http.MethodGet, jobPath(ref, "/watch"), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := json.NewDecoder(resp.Body)
	for {
		var st message.JobStatus
		switch err := lines.Decode(&st); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("watching the job: %w", err)
		}
		if !f(st) {
			return nil
		}
	}
}

// maxAnswer bounds what a client reads of one answer that is held in memory.
const maxAnswer = 256 << 20

// jobPath escapes dots too: a reference "." or ".." is not a way up.
func jobPath(ref, rest string) string {
	return "/v1/jobs/" + strings.ReplaceAll(url.PathEscape(ref), ".", "%2E") + rest
}

func (c *Client) get(ctx context.Context, path string, q url.Values, out any) error {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return c.call(ctx, http.MethodGet, path, nil, out)
}

func (c *Client) call(ctx context.Context, method, path string, body io.Reader, out any) error {
	resp, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	return decodeAnswer(resp, out)
}

// decodeAnswer reads an answer in JSON and closes it.
func decodeAnswer(resp *http.Response, out any) error {
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("reading the node's answer: %w", err)
	}
	return nil
}

// do sends a request and turns an answer that is not 2xx into its *Error.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	return c.doWith(ctx, method, path, body, http.Header{})
}

// doWith is do with a header.
func (c *Client) doWith(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response,
	error) {
	ctx, patient := newPatience(ctx, method)
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		patient.end()
		return nil, fmt.Errorf("asking the node: %w", err)
	}
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &patientBody{ReadCloser: req.Body, patience: patient, ctx: ctx}
	}
	req.Header = header
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		defer patient.end()
		return nil, unreachable(why(ctx, err))
	}
	resp.Body = &patientBody{ReadCloser: resp.Body, patience: patient, ctx: ctx, whole: true}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	e := &Error{Status: resp.StatusCode, Kind: KindInternal}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(e); err != nil {
		e.Message = "the node answered " + resp.Status
	}
	return nil, e
}

// unreachable tells "nobody there" from other trouble.
func unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNoNode, err)
	}
	return fmt.Errorf("asking the node: %w", err)
}
