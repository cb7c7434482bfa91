package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"godwit/api/view"
	"godwit/node"
	"godwit/owner"
	"godwit/trace"
)

// pages are the routes of which the dashboard is made, beside those that programs use too.
type pages struct{ *Server }

// A RuleRequest is a value for a rule of the owner's.
type RuleRequest struct {
	Key   string `json:"key,omitempty"` // of a preview; of a change the path has it
	Value string `json:"value"`
}

// maxRuleBody bounds a RuleRequest, in bytes: the longest rule names 64 overlays.
const maxRuleBody = 32 << 10

func (s pages) home(w http.ResponseWriter, r *http.Request) error {
	h, err := s.newHome(r.Context())
	return writeJSON(w, h, err)
}

func (s pages) newHome(ctx context.Context) (view.Home, error) {
	st, err := s.node.Glance(ctx)
	if err != nil {
		return view.Home{}, err
	}
	near, connected, err := s.node.Near(ctx, view.NearRows)
	if err != nil {
		return view.Home{}, err
	}
	jobs, err := s.node.OwnJobs(ctx)
	if err != nil {
		return view.Home{}, err
	}
	return view.NewHome(&st, near, connected, jobs), nil
}

func (s pages) machine(w http.ResponseWriter, r *http.Request) error {
	rules, file := s.node.Rules()
	return s.writeMachine(w, r, &rules, file)
}

// writeMachine tells of this machine by its rules.
func (s pages) writeMachine(w http.ResponseWriter, r *http.Request, rules *owner.Rules, file string) error {
	h, err := s.node.History(r.Context(), s.node.ID(), time.Time{})
	if err != nil {
		return err
	}
	stays, of, err := s.node.Forecasts(r.Context(), view.Horizons())
	if errors.Is(err, node.ErrUnknownMember) { // of no overlay: nobody forecasts
		stays, err = make([]float64, len(view.Horizons())), nil
	}
	if err != nil {
		return err
	}
	found := s.node.Sense(r.Context())
	return writeJSON(w, view.NewMachine(h, time.Now(), stays, &of, rules, file, ruleText(file), found), nil)
}

// ruleText is the file of rules, nil where there is none.
func ruleText(file string) []byte {
	if file == "" {
		return nil
	}
	b, _ := owner.Source(file) // one that cannot be read has no rules in force
	return b
}

func readRule(w http.ResponseWriter, r *http.Request) (req RuleRequest, err error) {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRuleBody)).Decode(&req); err != nil {
		return req, inputError(fmt.Errorf("reading the rule: %w", err))
	}
	return req, nil
}

// setRule changes a rule of the owner's, and tells of the machine as it is with it.
func (s pages) setRule(w http.ResponseWriter, r *http.Request) error {
	req, err := readRule(w, r)
	if err != nil {
		return err
	}
	if err := s.node.SetRule(r.PathValue("key"), req.Value); err != nil {
		return ruleError(err)
	}
	_, file := s.node.Rules()
	rules, err := owner.Load(file) // the node looks at it within a second
	if err != nil {
		return err
	}
	return s.writeMachine(w, r, &rules, file)
}

// previewRule tells what a rule that is changed would have made of the last week. Nothing is changed.
func (s pages) previewRule(w http.ResponseWriter, r *http.Request) error {
	req, err := readRule(w, r)
	if err != nil {
		return err
	}
	was, file := s.node.Rules()
	text, err := owner.Edit(file, ruleText(file), req.Key, req.Value)
	if err != nil {
		return err
	}
	then, err := owner.ParseFor(file, text, node.Machine())
	if err != nil {
		return err
	}
	h, err := s.node.History(r.Context(), s.node.ID(), time.Time{})
	if err != nil {
		return err
	}
	p := owner.Foresee(h, time.Now().Add(-view.Week), &was, &then, time.Local)
	return writeJSON(w, view.NewPreview(&p, &then, strings.SplitN(req.Key, ".", 2)[0], req.Value), nil)
}

// ruleError tells what a person can do about a rule that is not changed.
func ruleError(err error) error {
	if errors.Is(err, node.ErrNoRules) {
		return &Error{Message: err.Error(), Kind: KindRefused, Status: http.StatusConflict,
			Hint: "a node that `godwit up` starts has one"}
	}
	return err
}

// exportTrace gives a peer's whole history as a trace file, such as `godwit history --export` writes.
func (s pages) exportTrace(w http.ResponseWriter, r *http.Request) error {
	peer, err := s.peerID(r)
	if err != nil {
		return err
	}
	h, err := s.node.History(r.Context(), peer, time.Time{})
	if err != nil {
		return err
	}
	if h.Len() == 0 {
		return fmt.Errorf("%w: %s", node.ErrNoHistory, peer)
	}
	h.Host = string(peer)
	attach(w, "text/csv", "history-"+shortID(string(peer))+".csv")
	t := trace.Trace{Name: "history-" + shortID(string(peer)), Start: h.Since(), End: h.Until(),
		Hosts: []trace.Host{{History: h}}}
	return ignoreGone(trace.Write(w, &t, trace.CSV))
}

// attach has a browser keep an answer as a file. The name has no quotes.
func attach(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// shortID is the end of an ID, which people tell it by.
func shortID(id string) string {
	const end = 8
	return id[max(0, len(id)-end):]
}

// research tells of members' habits, and of decisions.
func (s pages) research(w http.ResponseWriter, r *http.Request) error {
	records, err := s.node.Records(r.Context(), view.MaxHabits)
	if err != nil {
		return err
	}
	decided, err := s.node.Decisions(r.Context())
	if err != nil {
		return err
	}
	out := view.Research{Members: view.NewHabits(records), Decisions: view.Recent(decided)}
	out.Reliability = s.reliable.of(records)
	return writeJSON(w, out, nil)
}
