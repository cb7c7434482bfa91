package node

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// manifestOfKey is an overlay that the key of a seed founded, and what a member answers who serves it.
func manifestOfKey(t *testing.T, seed byte, admission overlay.Admission) (overlay.Manifest, []byte) {
	t.Helper()
	m := overlay.Manifest{Name: "lab", Founder: peerOf(seed), Founded: time.Now().UTC(), Admission: admission}
	if err := m.Sign(testKey(seed)); err != nil {
		t.Fatal(err)
	}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := json.Marshal(manifestAnswer{First: b, Newest: b})
	if err != nil {
		t.Fatal(err)
	}
	return m, answer
}

// Whom the hash table names is asked, and joined is what the founder signed alone: others of whom it
// is said, who show another overlay, a damaged one or nothing, are passed over.
func TestJoinByTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		open, openAnswer := manifestOfKey(t, 9, overlay.Open)
		closed, closedAnswer := manifestOfKey(t, 10, overlay.Invited)
		_, otherAnswer := manifestOfKey(t, 11, overlay.Open)
		ticket, err := overlay.NewTicket(&closed, testKey(10), make([]byte, 32), time.Now(), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		meeting := ticket.Meeting()
		answers := map[task.PeerID][]byte{"open": openAnswer, "closed": closedAnswer, "another": otherAnswer,
			"damaged": openAnswer[:len(openAnswer)/2]}
		liars := []task.PeerID{"another", "damaged", "nothing"}
		l.net.answer(func(to task.PeerID, method string) ([]byte, error) {
			if a := answers[to]; a != nil && method == methodManifest {
				return a, nil
			}
			return nil, errUnreachable
		})
		join := func(what string) (OverlayDetail, error) { return l.JoinOverlay(context.Background(), what, 0) }
		if _, err := join(string(open.ID())); !errors.Is(err, ErrUnknownOverlay) {
			t.Errorf("joined without a table: %v", err)
		}
		openKey, closedKey := p2p.Key(overlay.MeetingOpen(open.ID())), p2p.Key(meeting.At(time.Now()))
		l.net.name(map[p2p.Key][]task.PeerID{openKey: liars, closedKey: liars})
		for _, what := range []string{string(open.ID()), ticket.Text()} {
			if d, err := join(what); !errors.Is(err, ErrUnknownOverlay) {
				t.Errorf("joined %v by the word of liars: %v", d.ID, err)
			}
		}
		l.net.name(map[p2p.Key][]task.PeerID{openKey: append(liars, "open"), closedKey: append(liars[:3:3], "closed")})
		for what, id := range map[string]overlay.ID{string(open.ID()): open.ID(), ticket.Text(): closed.ID()} {
			if d, err := join(what); err != nil || d.ID != id {
				t.Errorf("join: %v, %v, want %v", d.ID, err, id)
			}
		}
		l.checkMeeting(t, closed.ID(), meeting)
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// checkMeeting looks what the node is found by, and that the ticket itself is not kept.
func (l *lone) checkMeeting(t *testing.T, id overlay.ID, meeting overlay.Meeting) {
	t.Helper()
	now := time.Now()
	var keys, later []p2p.Key
	if err := l.do(t.Context(), func() {
		keys, later = l.members[id].keys(now), l.members[id].keys(meeting.Expires)
	}); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 1 || keys[0] != p2p.Key(meeting.At(now)) || len(later) != 0 {
		t.Errorf("found by %x, and once the ticket has expired by %x", keys, later)
	}
	kept, err := readJoined(l.cfg.joinedFile())
	if err != nil {
		t.Fatal(err)
	}
	meetings := 0
	for _, r := range kept {
		meetings += len(r.Meetings)
	}
	text, err := os.ReadFile(l.cfg.joinedFile())
	if err != nil || meetings != 1 || strings.Contains(string(text), "AAAAAAAAAAAAAAAAAAAA") { // the seed of the ticket
		t.Errorf("%d meetings are kept: %v\n%s", meetings, err, text)
	}
}
