package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"godwit/node"
	"godwit/task"
	"godwit/trace"
)

// A HistoryReply is a peer's availability record.
type HistoryReply struct {
	Peer task.PeerID `json:"peer"`
	// Spells are as History.AppendSpells encodes them.
	Spells []byte `json:"spells"`
}

// maxReplySpells bounds what a client takes of one history: 90 days of a change
// a minute.
const maxReplySpells = 90 * 24 * 60

// maxHorizon bounds a forecast: nobody knows more of a volunteer.
const maxHorizon = 366 * 24 * time.Hour

// peerID is the peer that a request names: "self" is the node.
func (s *Server) peerID(r *http.Request) (task.PeerID, error) {
	id := r.PathValue("peer")
	if id == "self" {
		return s.node.ID(), nil
	}
	p := task.PeerID(id)
	if _, err := p.PublicKey(); err == nil {
		return p, nil
	}
	members, err := s.node.Members(r.Context(), "")
	if err != nil {
		return "", err
	}
	var found []task.PeerID
	for _, m := range members {
		if named(string(m.Peer), id) && !slices.Contains(found, m.Peer) { // one peer may be in several overlays
			found = append(found, m.Peer)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &Error{Message: fmt.Sprintf("no member is called %q", id), Kind: KindNotFound,
			Status: http.StatusNotFound, Hint: "`godwit peers` lists the members"}
	}
	return "", inputError(fmt.Errorf("%q is the end of several peers' IDs: give more of it", id))
}

func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	peer, err := s.peerID(r)
	if err != nil {
		return err
	}
	var since time.Time
	if text := r.URL.Query().Get("since"); text != "" {
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			return inputError(fmt.Errorf("since: %w", err))
		}
	}
	h, err := s.node.History(r.Context(), peer, since)
	if err != nil {
		return err
	}
	return writeJSON(w, HistoryReply{Peer: peer, Spells: h.AppendSpells(nil, 0, h.Len())}, nil)
}

func (s *Server) forecast(w http.ResponseWriter, r *http.Request) error {
	peer, err := s.peerID(r)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(r.URL.Query().Get("for"))
	if err != nil || d <= 0 || d > maxHorizon {
		return inputError(errors.New("for must be a duration above 0 and at most a year, such as 2h"))
	}
	f, err := s.node.Forecast(r.Context(), peer, d)
	return writeJSON(w, f, err)
}

// History returns what the node knows, or can find out, of a peer's history
// since a time; "self" is the node's own. The peer may be named by the end of
// its ID.
func (c *Client) History(ctx context.Context, peer string, since time.Time) (*trace.History, error) {
	var reply HistoryReply
	query := url.Values{}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	if err := c.get(ctx, "/v1/peers/"+url.PathEscape(peer)+"/history", query, &reply); err != nil {
		return nil, err
	}
	h, err := trace.DecodeSpells(reply.Spells, maxReplySpells)
	if err != nil {
		return nil, fmt.Errorf("reading the node's answer: %w", err)
	}
	h.Host = string(reply.Peer)
	return h, nil
}

// Forecast returns the probability that a peer stays; "self" is the node.
func (c *Client) Forecast(ctx context.Context, peer string, d time.Duration) (f node.Forecast, err error) {
	return f, c.get(ctx, "/v1/peers/"+url.PathEscape(peer)+"/forecast", url.Values{"for": {d.String()}}, &f)
}
