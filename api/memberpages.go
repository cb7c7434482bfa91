package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"godwit/api/view"
	"godwit/node"
	"godwit/task"
)

func (s pages) swarm(w http.ResponseWriter, r *http.Request) error {
	overlay := r.URL.Query().Get("overlay")
	if overlay != "" {
		id, err := s.overlayID(r.Context(), overlay)
		if err != nil {
			return err
		}
		overlay = id
	}
	st, err := s.node.Glance(r.Context())
	if err != nil {
		return err
	}
	if overlay == "" && len(st.Overlays) > 0 {
		overlay = string(st.Overlays[0].ID)
	}
	out := view.Swarm{Overlays: view.NewHome(&st, nil, 0, nil).Overlays,
		Traffic: view.Traffic{RxBytes: st.RxBytes, TxBytes: st.TxBytes, Points: s.traffic.points()}}
	out.Roster = node.Roster{Census: node.Census{States: map[string]int{}}, Beliefs: map[string]int{},
		Group: []task.PeerID{}, Rows: []node.Member{}, Dots: []node.Dot{}}
	if overlay != "" {
		rosters, err := s.node.Rosters(r.Context(), overlay, view.MaxRows)
		if err != nil {
			return err
		}
		out.Roster = rosters[0]
		out.Rows = view.CleanRows(out.Rows)
	}
	return writeJSON(w, out, nil)
}

// poolRows is how many members of each pool are listed, of so many pools all of view.MaxRows together.
func poolRows(pools int) int { return max(1, view.MaxRows/max(1, pools)) }

func (s pages) pools(w http.ResponseWriter, r *http.Request) error {
	all, err := s.overlays.Overlays(r.Context())
	if err != nil {
		return err
	}
	known := len(all)
	all = all[:min(known, view.MaxRows)]
	pools := []view.Pool{}
	for _, o := range all {
		d, err := s.overlays.OverlayDetail(r.Context(), string(o.ID))
		if errors.Is(err, node.ErrUnknownOverlay) { // it was left meanwhile
			continue
		}
		if err != nil {
			return err
		}
		rosters, err := s.node.Rosters(r.Context(), string(o.ID), poolRows(len(all)))
		if err != nil {
			return err
		}
		pools = append(pools, view.NewPool(d, &rosters[0], s.node.ID()))
	}
	out := view.NewPools(pools)
	out.More += known - len(all)
	return writeJSON(w, out, nil)
}

// A ShareRequest is an overlay's part of this machine.
type ShareRequest struct {
	Share float64 `json:"share"` // over the sum of its overlays' shares; above 0
}

func (s pages) setShare(w http.ResponseWriter, r *http.Request) error {
	var req ShareRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJoinBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the share: %w", err))
	}
	if !(req.Share > 0 && req.Share <= maxShare) {
		return inputError(fmt.Errorf("share must be above 0 and at most %d", maxShare))
	}
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := s.overlays.OverlayDetail(r.Context(), id); err != nil { // not one to join
		return err
	}
	d, err := s.overlays.JoinOverlay(r.Context(), id, req.Share)
	return writeJSON(w, d, err)
}

// removeMember takes a member off the list of an overlay that this node founded.
func (s pages) removeMember(w http.ResponseWriter, r *http.Request) error {
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := s.overlays.OverlayDetail(r.Context(), id)
	if err != nil {
		return err
	}
	if d.Rules.Admission != node.AdmitListed {
		return &Error{Message: fmt.Sprintf("%q has no list of members", d.Name), Kind: KindRefused,
			Status: http.StatusConflict, Hint: "its invitations can be voided all together: `godwit overlay change " +
				"--revoke-invitations`; or change its admission to listed"}
	}
	peer := task.PeerID(r.PathValue("peer"))
	left := slices.DeleteFunc(slices.Clone(d.Rules.Allowed), func(p task.PeerID) bool { return p == peer })
	if len(left) == len(d.Rules.Allowed) {
		return &Error{Message: fmt.Sprintf("%s is not on the list", task.Printable(string(peer), maxName)),
			Kind: KindNotFound, Status: http.StatusNotFound, Hint: "`godwit overlay show` prints the list"}
	}
	rules := d.Rules
	rules.Allowed = left
	rules.Trusted = slices.DeleteFunc(slices.Clone(rules.Trusted), func(p task.PeerID) bool { return p == peer })
	d, err = s.overlays.ChangeOverlay(r.Context(), id, rules)
	return writeJSON(w, d, err)
}

// maxName bounds a name in an error, in bytes.
const maxName = 80
