package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// Rows are cut where they are too much, not before.
func TestWithin(t *testing.T) {
	rows := []string{"ab", "cd", "ef"} // of 5 bytes each, with the comma
	for bytes, want := range map[int]int{0: 0, 4: 0, 5: 1, 14: 2, 15: 3, 99: 3} {
		if got := Within(rows, bytes); !slices.Equal(got, rows[:want]) {
			t.Errorf("within %d bytes: %v", bytes, got)
		}
	}
}

// hostileText is a text that is long, and longer as JSON.
var hostileText = strings.Repeat("<", 1<<10)

// What others write makes no answer longer than MaxBytes: each text is as long as it can be, and each byte of it
// takes six.
func TestHostileTextsAreBounded(t *testing.T) {
	st := node.Status{}
	var members []node.Member
	var pools []Pool
	var decided []node.Decision
	var jobs []message.JobStatus
	for i := range 4 * MaxRows {
		id := fmt.Sprintf("bafy%055d", i)
		peer := task.PeerID(fmt.Sprintf("12D3KooW%044d", i))
		st.Running = append(st.Running, node.LocalTask{Task: id + "/1", Overlay: hostileText})
		st.Overlays = append(st.Overlays, node.OverlayStatus{ID: task.CID(id), Name: hostileText})
		members = append(members, node.Member{Peer: peer, Site: hostileText, Version: hostileText, Overlay: hostileText,
			Addrs: slices.Repeat([]string{hostileText}, 16)})
		decided = append(decided, node.Decision{Task: id + "/1", Reason: hostileText, Overlay: hostileText})
		jobs = append(jobs, Brief(message.JobStatus{Name: hostileText, Reason: hostileText, Note: hostileText,
			Loans: make([]message.LoanStatus, 1000), TasksList: make([]message.TaskStatus, 1000)}))
	}
	detail := node.OverlayDetail{OverlayStatus: st.Overlays[0]}
	for i := range node.MaxAllowed {
		detail.Rules.Allowed = append(detail.Rules.Allowed, task.PeerID(fmt.Sprintf("12D3KooW%044d", i)))
	}
	for range MaxRows {
		pools = append(pools, NewPool(detail, &node.Roster{Rows: slices.Clone(members[:MaxRows])}, ""))
	}
	shown := NewPools(pools)
	if len(shown.Pools) == 0 || len(shown.Pools)+shown.More != len(pools) {
		t.Errorf("%d pools are shown, and %d more there are, of %d", len(shown.Pools), shown.More, len(pools))
	}
	rows := CleanRows(slices.Clone(members[:MaxRows]))
	for what, v := range map[string]any{
		"home": NewHome(&st, nil, 0, nil), "members": rows, "pools": shown, "decisions": Recent(decided),
		"jobs": Within(jobs, MostRows),
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > MaxBytes {
			t.Errorf("%s have %d bytes", what, len(b))
		}
	}
	if len(rows) == 0 {
		t.Error("no member is shown")
	}
}
