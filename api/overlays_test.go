package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// An overlay is founded, goes by its name, its ID or an end of that, changes by
// its founder's word, invites, and is left.
func TestOverlays(t *testing.T) {
	c := dialed(t)
	rules := node.OverlayRules{Name: "lab", Placement: "fcfspp:t=0.6", Admission: node.AdmitInvited, Coordinators: 5}
	made, err := c.CreateOverlay(t.Context(), rules)
	if err != nil || made.Name != "lab" || made.Version != 0 || made.Share != 1 || made.Rules.Coordinators != 5 {
		t.Fatalf("created %+v, %v", made, err)
	}
	id := string(made.ID)
	for _, ref := range []string{"lab", id, id[len(id)-8:], id[:len(id)-4]} {
		if d, err := c.Overlay(t.Context(), ref); err != nil || d.ID != made.ID || d.Rules.Placement != "fcfspp:t=0.6" ||
			d.Founder == "" {
			t.Errorf("%q is %+v, %v", ref, d, err)
		}
	}
	all, err := c.Overlays(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != node.DefaultOverlay || all[1].ID != made.ID {
		t.Errorf("overlays are %+v, %v", all, err)
	}

	rules.Placement, rules.RevokeInvitations = "flp", true
	changed, err := c.ChangeOverlay(t.Context(), "lab", rules)
	if err != nil || changed.ID != made.ID || changed.Version != 1 || changed.Manifest == made.Manifest ||
		changed.Rules.Placement != "flp" || changed.Rules.RevokeInvitations {
		t.Errorf("changed to %+v, %v", changed, err)
	}
	if ticket, err := c.Invite(t.Context(), "lab", time.Hour); err != nil || !strings.HasPrefix(ticket, "godwit1") {
		t.Errorf("the ticket is %q, %v", ticket, err)
	}
	if m, err := c.Peers(t.Context(), "lab"); err != nil || len(m) > 1 { // it may not yet have seen itself
		t.Errorf("its members are %+v, %v", m, err)
	}

	if left, err := c.LeaveOverlay(t.Context(), "lab"); err != nil || left != made.ID {
		t.Errorf("left %q, %v", left, err)
	}
	_, err = c.Overlay(t.Context(), "lab")
	wantError(t, "an overlay that was left", err, http.StatusNotFound, KindNotFound, "no such overlay")
}

// A pool that goes by its name has no founder, and nobody's word changes it.
func TestOpenPool(t *testing.T) {
	c := dialed(t)
	d, err := c.JoinOverlay(t.Context(), "night-shift", 2.5)
	if err != nil || d.Name != "night-shift" || d.Founder != "" || d.Share != 2.5 {
		t.Fatalf("joined %+v, %v", d, err)
	}
	_, err = c.ChangeOverlay(t.Context(), "commons", node.OverlayRules{Name: "commons", Replicas: 2})
	wantError(t, "changing commons", err, http.StatusForbidden, KindRefused, "founder")
	_, err = c.Invite(t.Context(), "commons", time.Hour)
	wantError(t, "inviting to commons", err, http.StatusConflict, KindInput, "takes no invitations")
}

// Two overlays of one name are told apart by their IDs.
func TestOverlaysOfOneName(t *testing.T) {
	c := dialed(t)
	var made [2]node.OverlayDetail
	for i := range made {
		var err error
		if made[i], err = c.CreateOverlay(t.Context(), node.OverlayRules{Name: "twin", Coordinators: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.Overlay(t.Context(), "twin")
	wantError(t, "a name of two", err, http.StatusConflict, KindInput, "names 2 overlays")
	id := string(made[1].ID)
	if d, err := c.Overlay(t.Context(), id[len(id)-8:]); err != nil || d.Rules.Coordinators != 2 {
		t.Errorf("the second is %+v, %v", d, err)
	}
}

// What is not asked well is refused before the node does anything.
func TestOverlayRefusals(t *testing.T) {
	c := dialed(t)
	stranger := task.RawCID([]byte("an overlay of nobody"))
	post := func(path, body string) error {
		return c.call(t.Context(), http.MethodPost, path, strings.NewReader(body), &json.RawMessage{})
	}
	for name, q := range map[string]struct {
		err    error
		status int
		kind   string
		text   string
	}{
		"no JSON":         {post("/v1/overlays", "lab"), 400, KindInput, "reading the overlay's rules"},
		"no rules":        {post("/v1/overlays", "{}"), 400, KindInput, "name has 0 bytes"},
		"an unknown rule": {post("/v1/overlays", `{"name":"lab","owner":"me"}`), 400, KindInput, "unknown field"},
		"an unknown policy": {post("/v1/overlays", `{"name":"lab","placement":"best"}`), 400, KindInput,
			`no policy "best"`},
		"endless rules": {post("/v1/overlays", `{"name":"`+strings.Repeat("x", maxRulesBody)+`"}`), 413, KindInput,
			"too large"},
		"joining nothing": {post("/v1/overlays/join", `{"overlay":" "}`), 400, KindInput, "a name, an ID or a ticket"},
		"a share below 0": {post("/v1/overlays/join", `{"overlay":"lab","share":-1}`), 400, KindInput,
			"share must be above 0"},
		"a share too large": {post("/v1/overlays/join", `{"overlay":"lab","share":1e9}`), 400, KindInput,
			"at most 1000000"},
		"a broken ticket": {post("/v1/overlays/join", `{"overlay":"godwit1zzz"}`), 400, KindInput, "ticket"},
		"an endless ticket": {post("/v1/overlays/join", `{"overlay":"`+strings.Repeat("x", maxJoinBody)+`"}`), 413,
			KindInput, "too large"},
		"a life of nothing":   {post("/v1/overlays/commons/invite", `{"life_s":0}`), 400, KindInput, "life_s"},
		"a life of ages":      {post("/v1/overlays/commons/invite", `{"life_s":1e12}`), 400, KindInput, "life_s"},
		"inviting to nowhere": {post("/v1/overlays/nowhere/invite", `{"life_s":60}`), 404, KindNotFound, "nowhere"},
	} {
		wantError(t, name, q.err, q.status, q.kind, q.text)
	}
	for _, ref := range []string{"nowhere", "", ".", "..", "a/b", "\x00\xff", strings.Repeat("x", 10_000),
		string(stranger)} {
		what := fmt.Sprintf("%.40q", ref)
		_, err := c.Overlay(t.Context(), ref)
		wantError(t, "showing "+what, err, http.StatusNotFound, KindNotFound, "")
		_, err = c.ChangeOverlay(t.Context(), ref, node.OverlayRules{Name: "lab"})
		wantError(t, "changing "+what, err, http.StatusNotFound, KindNotFound, "")
		_, err = c.LeaveOverlay(t.Context(), ref)
		wantError(t, "leaving "+what, err, http.StatusNotFound, KindNotFound, "")
		if ref == "" {
			continue // the node's own
		}
		_, err = c.Peers(t.Context(), ref)
		wantError(t, "members of "+what, err, http.StatusNotFound, KindNotFound, "")
		req := request(t, c, "job", 1, "1ms")
		req.Overlay = ref
		_, err = c.Submit(t.Context(), req)
		wantError(t, "a job for "+what, err, http.StatusNotFound, KindNotFound, "")
	}
}

// The leader tells how it schedules: what came, who is there, and what it learnt.
func TestScheduling(t *testing.T) {
	c := dialed(t)
	if _, err := c.CreateOverlay(t.Context(), node.OverlayRules{Name: "lab", Placement: "lpas"}); err != nil {
		t.Fatal(err)
	}
	for _, class := range []string{"x", "x", "y"} {
		req := request(t, c, class, 2, "20ms")
		req.Overlay, req.File = "lab", req.File+"class: "+class+"\n"
		id, err := c.Submit(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		await(t, c, string(id), func(st message.JobStatus) bool { return st.Final })
	}
	s, err := c.Scheduling(t.Context(), "lab")
	if err != nil {
		t.Fatal(err)
	}
	if s.Placement != "lpas" || s.Leader == "" || len(s.Classes) != 2 || s.Classes[0].Class != "x" ||
		s.Classes[0].Arrivals != 2 || s.Classes[0].Arrival <= 0 {
		t.Errorf("it is %+v", s)
	}
	if len(s.Members) != 1 || s.Members[0].Slots != 2 || s.Members[0].Rates[0].Measured != 4 ||
		s.Members[0].Rates[0].Rate <= 0 || s.Members[0].Rates[0].Rate > 50 {
		t.Errorf("its members are %+v", s.Members)
	}
	if s.Allocation == nil || s.Allocation.Solved.IsZero() {
		t.Errorf("its allocation is %+v", s.Allocation)
	}
	_, err = c.Scheduling(t.Context(), "nowhere")
	wantError(t, "an overlay of nobody", err, http.StatusNotFound, KindNotFound, "no such overlay")
}
