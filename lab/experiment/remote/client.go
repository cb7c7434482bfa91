package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"godwit/lab/experiment"
)

// Client sends requests to a Service. Methods return *Error for error responses, and wrap ErrNoService if the service
// does not run.
type Client struct {
	http  *http.Client
	base  string
	token string
}

// ErrNoService is wrapped by the errors of a Client that cannot connect.
var ErrNoService = errors.New("no service of experiments answers")

const (
	// dialTime limits the connection setup, and answerTime a whole request.
	dialTime   = 5 * time.Second
	answerTime = requestTime + 10*time.Second
	// maxAnswer limits the response size in bytes.
	maxAnswer = 64 << 20
)

// Dial returns a client for the service with the directory dir.
func Dial(dir string) (*Client, error) {
	addr, err := os.ReadFile(filepath.Join(dir, addrName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s", ErrNoService, filepath.Join(dir, addrName))
	}
	token, e := os.ReadFile(filepath.Join(dir, TokenName))
	if err := errors.Join(err, e); err != nil {
		return nil, fmt.Errorf("reading the address and token of the service: %w", err)
	}
	return &Client{base: "http://" + string(addr), token: strings.TrimSpace(string(token)), http: &http.Client{
		Timeout: answerTime, Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: dialTime}).DialContext}}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Define defines an experiment.
func (c *Client) Define(ctx context.Context, s experiment.Source) (d experiment.Definition, err error) {
	return d, c.call(ctx, http.MethodPost, "/v1/experiments", s, &d)
}

// Definitions returns all experiments.
func (c *Client) Definitions(ctx context.Context) (all []Summary, err error) {
	return all, c.call(ctx, http.MethodGet, "/v1/experiments", nil, &all)
}

// Definition returns an experiment.
func (c *Client) Definition(ctx context.Context, id string) (d experiment.Definition, err error) {
	return d, c.call(ctx, http.MethodGet, "/v1/experiments/"+url.PathEscape(id), nil, &d)
}

// Delete removes an experiment.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/v1/experiments/"+url.PathEscape(id), nil, &struct{}{})
}

// Allocation returns the solution of an experiment's linear program.
func (c *Client) Allocation(ctx context.Context, id string) (a experiment.Allocation, err error) {
	return a, c.call(ctx, http.MethodGet, "/v1/experiments/"+url.PathEscape(id)+"/allocation", nil, &a)
}

// Start starts a run of an experiment.
func (c *Client) Start(ctx context.Context, id string, o experiment.RunOptions) (st experiment.RunStatus, err error) {
	return st, c.call(ctx, http.MethodPost, "/v1/experiments/"+url.PathEscape(id)+"/runs", o, &st)
}

// Runs returns all runs, the oldest first.
func (c *Client) Runs(ctx context.Context) (all []experiment.RunStatus, err error) {
	return all, c.call(ctx, http.MethodGet, "/v1/runs", nil, &all)
}

// Statistics returns the current results of a run.
func (c *Client) Statistics(ctx context.Context, id string) (s experiment.Statistics, err error) {
	return s, c.call(ctx, http.MethodGet, runPath(id, "statistics"), nil, &s)
}

// Reports returns the reports of a run's completed policies.
func (c *Client) Reports(ctx context.Context, id string) (all []experiment.Report, err error) {
	return all, c.call(ctx, http.MethodGet, runPath(id, "reports"), nil, &all)
}

// Stop stops a run.
func (c *Client) Stop(ctx context.Context, id string) (st experiment.RunStatus, err error) {
	return st, c.call(ctx, http.MethodPost, runPath(id, "stop"), nil, &st)
}

// Server executes a command for a server of a run.
func (c *Client) Server(ctx context.Context, id, server, command string) (reply experiment.ServerReply, err error) {
	path := runPath(id, "servers") + "/" + url.PathEscape(server) + "/" + url.PathEscape(command)
	return reply, c.call(ctx, http.MethodPost, path, nil, &reply)
}

func runPath(id, what string) string { return "/v1/runs/" + url.PathEscape(id) + "/" + what }

// call sends body as JSON unless it is nil, and decodes the response.
func (c *Client) call(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
			return fmt.Errorf("%w: %w", ErrNoService, err)
		}
		return fmt.Errorf("sending the request: %w", err)
	}
	defer resp.Body.Close()
	in := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 != 2 {
		e := &Error{}
		if err := in.Decode(e); err != nil {
			e.Message = "the service answered " + resp.Status
		}
		e.Status = resp.StatusCode
		return e
	}
	if err := in.Decode(answer); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}
