package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"godwit/node"
	"godwit/scheduler"
	"godwit/task"
)

// overlays is what the API asks of a node about overlays. Each is named by its
// ID, or by its name where the node serves only one of that name.
type overlays interface {
	// Overlays lists those that the node serves, by name.
	Overlays(ctx context.Context) ([]node.OverlayStatus, error)
	OverlayDetail(ctx context.Context, nameOrID string) (node.OverlayDetail, error)
	// CreateOverlay founds an overlay and joins it.
	CreateOverlay(ctx context.Context, r node.OverlayRules) (node.OverlayDetail, error)
	// ChangeOverlay signs a new version of the rules, as the founder.
	ChangeOverlay(ctx context.Context, nameOrID string, r node.OverlayRules) (node.OverlayDetail, error)
	JoinOverlay(ctx context.Context, nameIDOrTicket string, share float64) (node.OverlayDetail, error)
	LeaveOverlay(ctx context.Context, nameOrID string) error
	// Scheduling asks the leader how it schedules now.
	Scheduling(ctx context.Context, nameOrID string) (scheduler.Scheduling, error)
	// Invite returns a ticket with which whoever holds it can join.
	Invite(ctx context.Context, nameOrID string, life time.Duration) (string, error)
}

// A JoinRequest is the wish to be a member of an overlay.
type JoinRequest struct {
	Overlay string  `json:"overlay"` // its name, its ID, either with @ADDRESS, or a ticket
	Share   float64 `json:"share"`   // of this machine: over the sum of its overlays' shares; 0 is 1
}

// An InviteRequest asks for a ticket.
type InviteRequest struct {
	Life float64 `json:"life_s"` // seconds, above 0 and at most a year
}

// An InviteReply is a ticket.
type InviteReply struct {
	Ticket string   `json:"ticket"`
	QR     []string `json:"qr"` // the same for a camera: rows of 0 and 1, a dark square for each 1
}

// OverlayReply names an overlay.
type OverlayReply struct {
	ID task.CID `json:"id"`
}

const (
	// maxRulesBody bounds the rules of an overlay: their longest list is
	// node.MaxAllowed peers of some 60 bytes.
	maxRulesBody = 256 << 10
	// maxJoinBody bounds what asks to join, leave or invite: a ticket is less
	// than a kibibyte.
	maxJoinBody = 16 << 10
	// maxLife bounds an invitation, as maxPause a pause.
	maxLife = 366 * 24 * time.Hour
	// maxShare bounds a share, as in the owner's rules.
	maxShare = 1_000_000
)

func (s *Server) listOverlays(w http.ResponseWriter, r *http.Request) error {
	all, err := s.overlays.Overlays(r.Context())
	return writeJSON(w, all, err)
}

func (s *Server) showOverlay(w http.ResponseWriter, r *http.Request) error {
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := s.overlays.OverlayDetail(r.Context(), id)
	return writeJSON(w, d, err)
}

func (s *Server) scheduling(w http.ResponseWriter, r *http.Request) error {
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	v, err := s.overlays.Scheduling(r.Context(), id)
	return writeJSON(w, v, err)
}

func (s *Server) createOverlay(w http.ResponseWriter, r *http.Request) error {
	rules, err := readRules(w, r)
	if err != nil {
		return err
	}
	d, err := s.overlays.CreateOverlay(r.Context(), rules)
	return writeJSON(w, d, err)
}

func (s *Server) changeOverlay(w http.ResponseWriter, r *http.Request) error {
	rules, err := readRules(w, r)
	if err != nil {
		return err
	}
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := s.overlays.ChangeOverlay(r.Context(), id, rules)
	return writeJSON(w, d, err)
}

// readRules reads and checks an overlay's rules.
func readRules(w http.ResponseWriter, r *http.Request) (rules node.OverlayRules, err error) {
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRulesBody))
	body.DisallowUnknownFields() // a rule that nobody reads is one that does not hold
	if err := body.Decode(&rules); err != nil {
		return rules, inputError(fmt.Errorf("reading the overlay's rules: %w", err))
	}
	return rules, rules.Check()
}

func (s *Server) joinOverlay(w http.ResponseWriter, r *http.Request) error {
	var req JoinRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJoinBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading what to join: %w", err))
	}
	if req.Overlay = strings.TrimSpace(req.Overlay); req.Overlay == "" {
		return inputError(errors.New("overlay must be a name, an ID or a ticket"))
	}
	if req.Share == 0 {
		req.Share = 1
	}
	if !(req.Share > 0 && req.Share <= maxShare) {
		return inputError(fmt.Errorf("share must be above 0 and at most %d", maxShare))
	}
	d, err := s.overlays.JoinOverlay(r.Context(), req.Overlay, req.Share)
	if errors.Is(err, node.ErrUnknownOverlay) {
		return &Error{Message: err.Error(), Kind: KindNotFound, Status: http.StatusNotFound,
			Hint: "ask its founder for a new ticket, or join by ID@ADDRESS with an address that `godwit status` prints on the " +
				"machine of a member"}
	}
	return writeJSON(w, d, err)
}

func (s *Server) leaveOverlay(w http.ResponseWriter, r *http.Request) error {
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, OverlayReply{ID: task.CID(id)}, s.overlays.LeaveOverlay(r.Context(), id))
}

func (s *Server) invite(w http.ResponseWriter, r *http.Request) error {
	var req InviteRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJoinBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the invitation: %w", err))
	}
	if !(req.Life > 0 && req.Life <= maxLife.Seconds()) {
		return inputError(errors.New("life_s must be seconds, above 0 and at most a year"))
	}
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	switch d, err := s.overlays.OverlayDetail(r.Context(), id); {
	case err != nil:
		return err
	case d.Rules.Admission != node.AdmitInvited:
		return &Error{Message: fmt.Sprintf("%q takes no invitations: its admission is %s", d.Name,
			cmp.Or(d.Rules.Admission, node.AdmitOpen)),
			Kind: KindInput, Status: http.StatusConflict,
			Hint: "whom its rule admits joins with its ID and the address of a member, ID@ADDRESS; its founder can have it " +
				"take some: `godwit overlay change --admission invited`"}
	}
	life := time.Duration(math.Ceil(req.Life * float64(time.Second)))
	ticket, err := s.overlays.Invite(r.Context(), id, life)
	if err != nil {
		return err
	}
	squares, err := qr(ticket)
	return writeJSON(w, InviteReply{Ticket: ticket, QR: squares}, err)
}

// overlayID returns the ID of the overlay that ref names: an ID, a name, or
// enough of an ID's end or beginning to be unique. A name goes before a part of
// an ID.
func (s *Server) overlayID(ctx context.Context, ref string) (string, error) {
	if c, err := task.ParseCID(ref); err == nil {
		return string(c), nil
	}
	all, err := s.overlays.Overlays(ctx)
	if err != nil {
		return "", err
	}
	var byName, byID []task.CID
	for _, o := range all {
		switch {
		case o.Name == ref:
			byName = append(byName, o.ID)
		case named(string(o.ID), ref):
			byID = append(byID, o.ID)
		}
	}
	found := byName
	if len(found) == 0 {
		found = byID
	}
	switch len(found) {
	case 1:
		return string(found[0]), nil
	case 0:
		return "", fmt.Errorf("%w: %q", node.ErrUnknownOverlay, ref)
	}
	return "", &Error{Message: fmt.Sprintf("%q names %d overlays", ref, len(found)), Kind: KindInput,
		Status: http.StatusConflict,
		Hint:   "give the ID, or enough of its end; `godwit overlay list` shows them"}
}
