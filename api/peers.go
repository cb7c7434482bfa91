package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"godwit/node"
	"godwit/task"
)

// A PeerRequest has the address of a peer to stay connected to.
type PeerRequest struct {
	Address string `json:"address"` // with /p2p/ID at its end
}

// A PeerReply names a peer.
type PeerReply struct {
	Peer task.PeerID `json:"peer"`
}

func (s *Server) addPeer(w http.ResponseWriter, r *http.Request) error {
	var req PeerRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJoinBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the peer's address: %w", err))
	}
	p, err := s.node.NamePeer(strings.TrimSpace(req.Address))
	return writeJSON(w, PeerReply{Peer: p}, err)
}

func (s *Server) addedPeers(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, s.node.NamedPeers(), nil)
}

func (s *Server) removePeer(w http.ResponseWriter, r *http.Request) error {
	ref := r.PathValue("peer")
	var found []task.PeerID
	for _, p := range s.node.NamedPeers() {
		if named(string(p.Peer), ref) {
			found = append(found, p.Peer)
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("%w: %s", node.ErrNotNamed, ref)
	case 1:
		return writeJSON(w, PeerReply{Peer: found[0]}, s.node.UnnamePeer(found[0]))
	}
	return &Error{Message: fmt.Sprintf("%q names %d peers", ref, len(found)), Kind: KindInput,
		Status: http.StatusConflict, Hint: "give more of the ID; its end differs soonest"}
}

// AddPeer has the node stay connected to a peer, also when it is started again. The address ends
// in /p2p/ID, which is returned.
func (c *Client) AddPeer(ctx context.Context, addr string) (task.PeerID, error) {
	var reply PeerReply
	err := c.send(ctx, http.MethodPost, "/v1/peers", PeerRequest{Address: addr}, &reply)
	return reply.Peer, err
}

// RemovePeer has the node treat a peer that was added as any other: its ID, or enough of the ID's
// end or beginning to be unique.
func (c *Client) RemovePeer(ctx context.Context, ref string) (task.PeerID, error) {
	var reply PeerReply
	err := c.call(ctx, http.MethodDelete, "/v1/peers/"+url.PathEscape(ref), nil, &reply)
	return reply.Peer, err
}

// AddedPeers lists the peers whose addresses the node was given, by ID.
func (c *Client) AddedPeers(ctx context.Context) (p []node.NamedPeer, err error) {
	return p, c.get(ctx, "/v1/peers/added", nil, &p)
}
