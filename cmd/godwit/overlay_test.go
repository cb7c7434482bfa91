package main

import (
	"crypto/ed25519"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"godwit/node"
	"godwit/task"
)

// What no flag mentions stays; what one mentions changes, to nothing as well.
func TestRulesFlags(t *testing.T) {
	peer := task.PeerIDOf(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey))
	listed := node.OverlayRules{Name: "lab", Placement: "flp", Migration: "cbr", Coordinators: 5, Replicas: 2,
		Admission: node.AdmitListed, Allowed: []task.PeerID{peer}}
	with := func(change func(*node.OverlayRules)) node.OverlayRules {
		r := listed
		change(&r)
		return r
	}
	for args, want := range map[string]node.OverlayRules{
		"":                              listed,
		"--placement fcfspp:t=0.6":      with(func(r *node.OverlayRules) { r.Placement = "fcfspp:t=0.6" }),
		"--placement= --migration=":     with(func(r *node.OverlayRules) { r.Placement, r.Migration = "", "" }),
		"--slots-each 8":                with(func(r *node.OverlayRules) { r.SlotsEach = 8 }),
		"--coordinators 3 --replicas 0": with(func(r *node.OverlayRules) { r.Coordinators, r.Replicas = 3, 0 }),
		"--replicas=1 --verify 1e-3":    with(func(r *node.OverlayRules) { r.Replicas, r.Verify = 1, "1e-3" }),
		"--admission open": with(func(r *node.OverlayRules) {
			r.Admission, r.Allowed = node.AdmitOpen,
				nil
		}),
		"--admission listed":      listed,
		"--allow " + string(peer): listed,
		"--admission=invited --replicas=64": with(func(r *node.OverlayRules) {
			r.Admission, r.Allowed,
				r.Replicas = node.AdmitInvited, nil, 64
		}),
	} {
		var r rulesFlags
		f := pflag.NewFlagSet("change", pflag.ContinueOnError)
		r.add(f)
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		got := listed
		if err := r.apply(f, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q makes %+v, %v, want %+v", args, got, err, want)
		}
		if r.given(f) != (args != "") {
			t.Errorf("%q: given is %v", args, r.given(f))
		}
	}
}

// What an owner should know stands below the state.
func TestStatusTellsNotices(t *testing.T) {
	var b strings.Builder
	printStatus(&b, node.Status{Reason: "no rule stops it", Notices: []string{"the disk is full", "the clock was set"},
		Tasks: 2})
	if !strings.Contains(b.String(),
		": no rule stops it\nnotice   the disk is full\nnotice   the clock was set\ntasks    2 running") {
		t.Errorf("got\n%s", b.String())
	}
}

// How an overlay and a member read to a person.
func TestOverlayText(t *testing.T) {
	led := node.OverlayStatus{Name: "lab", Role: node.RoleCoordinator, Members: 7, Leader: "12D3KooWabcdefgh", Epoch: 12,
		Term: 4, Digest: "00ff", Jobs: 1, Rows: 20}
	whole := led
	whole.Synced = true
	suspected := node.Member{Belief: node.BeliefSuspected, BeliefBy: "told by abcdefgh",
		BeliefSince: time.Now().Add(-90 * time.Second)}
	for _, c := range []struct{ got, want string }{
		{overlayLine(&led), "lab: coordinator of 7 members, led by abcdefgh (epoch 12, term 4)"},
		{overlayLine(&node.OverlayStatus{Name: "lab", Members: 1}), "lab: member of 1 member, no leader known"},
		{ledgerText(&led), "1 job, 20 rows, not yet whole"},
		{ledgerText(&whole), "1 job, 20 rows, whole"},
		{ledgerText(&node.OverlayStatus{Jobs: 3}), "none here"},
		{beliefText(&node.Member{Belief: node.BeliefThere, BeliefBy: "advert"}), "there"},
		{beliefText(&suspected), "suspected for 1m30s (told by abcdefgh)"},
		{beliefText(&node.Member{}), "-"},
		{shareText(2.5), "2.5"},
		{longLife(inviteLife), "168h"},
		{longLife(90 * time.Minute), "1h30m0s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// What a founder left open is shown as what holds then.
func TestOverlayShowsDefaults(t *testing.T) {
	var b strings.Builder
	printOverlay(&b, &node.OverlayDetail{OverlayStatus: node.OverlayStatus{Name: "commons"}})
	for _, want := range []string{"placement    expected\n", "migration    cost\n", "fairness     equal\n",
		"chunking     paced\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
