package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The types here have the fields of the API's answers that this program looks at,
// by the names that scripts rely on (docs/cli.md): it is to notice when one goes.

// A status is what a node says of itself.
type status struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	Rx     int64  `json:"rx_bytes"` // that it received since it began
	Tx     int64  `json:"tx_bytes"`
	Tasks  int    `json:"tasks"` // that run there
	Peers  int    `json:"peers"` // that are connected
	Reach  struct {
		Hidden bool     `json:"hidden"`
		Relays []string `json:"relays"` // peers through whom it is reached
		Router struct {
			By, Why string
			Open    []struct{ Protocol, Outside string }
		}
	} `json:"reach"`
}

// A view is how a node sees an overlay.
type view struct {
	Name    string   `json:"name"`
	Leader  string   `json:"leader"` // a peer; "" while none is known
	Epoch   uint64   `json:"epoch"`
	Role    string   `json:"role"` // roleLeader, roleCoordinator, or "member"
	Members int      `json:"members"`
	Group   []string `json:"group"`  // peers, by rank
	Digest  string   `json:"digest"` // of the ledger's copy held here; "" for none
	Synced  bool     `json:"synced"` // that copy is whole
}

const (
	roleLeader      = "leader"
	roleCoordinator = "coordinator"
)

// holds says whether the node has a copy of the ledger by duty.
func (v view) holds() bool { return v.Role == roleLeader || v.Role == roleCoordinator }

// A jobView is a job as the node that submitted it sees it.
type jobView struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Error string `json:"error"`
	Tasks struct {
		Total, Waiting, Running, Done, Failed int
	} `json:"tasks"`
	Held      int     `json:"held"`
	Final     bool    `json:"final"`
	Reruns    int     `json:"reruns"`
	WastedCPU float64 `json:"wasted_cpu_s"`
	UsefulCPU float64 `json:"useful_cpu_s"`
	Taken     []struct {
		Tasks int `json:"tasks"`
	} `json:"taken"` // results of other jobs
	Checks *checkView `json:"checks"` // nil of a job whose results are not checked
	List   []taskView `json:"tasks_list"`
}

// A checkView says how far the results of a job are checked.
type checkView struct {
	Due, Waits, Right, Wrong, Open, Accepted, Agreed, Final int

	Divergent string // on which architectures its program is
}

type taskView struct {
	Standing string `json:"standing"`
	Parts    *struct {
		Checked int `json:"checked"`
		Of      int `json:"of"`
	} `json:"parts"` // nil where the whole task was, or is to be, run again
	Refuted *struct {
		Signed string `json:"signed"` // a peer
		By     string `json:"by"`     // a peer
		Why    string `json:"why"`
	} `json:"refuted"` // nil of a result that was not found wrong
	Index    int           `json:"index"`
	State    string        `json:"state"`
	Attempts []attemptView `json:"attempts"`
	Result   *struct {
		Digest  string   `json:"digest"`
		Workers []string `json:"workers"`
	} `json:"result"`
}

// An attemptView is one placement of a task, as its leader wrote it down.
type attemptView struct {
	Worker         string    `json:"worker"`
	Start          time.Time `json:"start"`
	Began          time.Time `json:"began"` // at its worker; zero where that is not known
	End            time.Time `json:"end"`
	Outcome        string    `json:"outcome"`
	FromCheckpoint bool      `json:"from_checkpoint"`
	MovedTo        string    `json:"moved_to"`
	MovedBytes     int64     `json:"moved_bytes"` // that the network carried for its move between workers
	DownS          float64   `json:"down_s"`      // how long it stood still for that
	Reason         string    `json:"reason"`
}

// handed says whether its worker handed the task over to another itself.
func (a *attemptView) handed() bool { return a.MovedBytes > 0 || a.DownS > 0 }

const (
	// socket is the API's unix socket in a node's data directory; it is reached
	// from any network namespace.
	socket = "api.sock"
	// answerLimit is how long a node may take to answer; one on a machine that
	// is busy with compiling still keeps it.
	answerLimit = 2 * time.Second
	// answerMost bounds an answer, in bytes: a job of a thousand tasks takes one
	// megabyte.
	answerMost = 64 << 20
)

// An asker asks one node by its API. It is safe for concurrent use.
type asker struct {
	http *http.Client
	of   string // the overlay to look at, where a node serves several; "" is the only one
}

func newAsker(dir string) *asker {
	return &asker{http: &http.Client{Timeout: answerLimit, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", filepath.Join(dir, socket))
		},
	}}}
}

func (a *asker) status(ctx context.Context) (s status, err error) {
	return s, a.get(ctx, "/v1/status", &s)
}

// A peerView is how a node sees a member.
type peerView struct {
	Peer  string `json:"peer"`
	State string `json:"state"`
	Free  int    `json:"free"`
}

func (a *asker) peers(ctx context.Context) (list []peerView, err error) {
	return list, a.get(ctx, "/v1/peers", &list)
}

// peersOf returns the members of one overlay.
func (a *asker) peersOf(ctx context.Context, overlay string) (list []peerView, err error) {
	return list, a.get(ctx, "/v1/peers?overlay="+url.QueryEscape(overlay), &list)
}

// overlay returns how the node sees the one overlay that it serves, or the one to look at; it
// costs the node much less than its status.
func (a *asker) overlay(ctx context.Context) (view, error) { return a.overlayNamed(ctx, a.of) }

// overlayNamed returns how the node sees an overlay of that name, or the only one that it serves.
func (a *asker) overlayNamed(ctx context.Context, name string) (view, error) {
	var list []view
	if err := a.get(ctx, "/v1/overlays", &list); err != nil {
		return view{}, err
	}
	if i := slices.IndexFunc(list, func(v view) bool { return v.Name == name }); i >= 0 {
		return list[i], nil
	}
	if len(list) != 1 {
		return view{}, fmt.Errorf("the node serves %d overlays", len(list))
	}
	return list[0], nil
}

func (a *asker) job(ctx context.Context, id string) (j jobView, err error) {
	return j, a.get(ctx, "/v1/jobs/"+id, &j)
}

// jobAlone is job without its tasks, which of thousands are megabytes.
func (a *asker) jobAlone(ctx context.Context, id string) (j jobView, err error) {
	return j, a.get(ctx, "/v1/jobs/"+id+"?limit=0", &j)
}

// pause says the owner's word that nothing is to run for so long, and resume takes
// it back.
func (a *asker) pause(ctx context.Context, d time.Duration) error {
	var s status
	return a.call(ctx, http.MethodPost, "/v1/pause", fmt.Sprintf(`{"for_s":%g}`, d.Seconds()), &s)
}

// drain says that what runs is to go elsewhere, until resume.
func (a *asker) drain(ctx context.Context) error {
	var s status
	return a.call(ctx, http.MethodPost, "/v1/drain", "", &s)
}

func (a *asker) resume(ctx context.Context) error {
	var s status
	return a.call(ctx, http.MethodPost, "/v1/resume", "", &s)
}

func (a *asker) get(ctx context.Context, path string, into any) error {
	return a.call(ctx, http.MethodGet, path, "", into)
}

func (a *asker) call(ctx context.Context, method, path, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://node"+path, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, answerMost))
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking for %s: %s: %.200s", path, resp.Status, said)
	}
	if err := json.Unmarshal(said, into); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", path, err)
	}
	return nil
}
