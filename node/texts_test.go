package node

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"godwit/scheduler"
	"godwit/scheduler/message"
)

// TestTextsOfALeader: whatever another node's answer says, no text of it plays with a
// terminal, and numbers and times stay.
func TestTextsOfALeader(t *testing.T) {
	bad := `\u001b[2J\u202e\u009b\n`
	said := `{"name":"N` + bad + `","state":"` + bad + `","reason":"` + bad + `","error":"` + bad + `","held":7,
		"submitted":"2026-01-02T03:04:05Z","tasks_list":[{"index":3,"params":{"p` + bad + `":"` + bad + `"},
		"state":"` + bad + `",
		"attempts":[{"worker":"` + bad + `","outcome":"` + bad + `",
		"reason":"` + bad + `","start":"2026-01-02T03:04:05Z"}]}]}`
	var st message.JobStatus
	if err := json.Unmarshal([]byte(said), &st); err != nil {
		t.Fatal(err)
	}
	printTexts(&st)
	if st.Held != 7 || st.Submitted.Year() != 2026 || len(st.TasksList[0].Params) != 1 ||
		!strings.HasPrefix(st.Name, "N") {
		t.Errorf("became %+v", st)
	}
	texts := []string{st.Name, st.State, st.Reason, st.Error, st.TasksList[0].State,
		string(st.TasksList[0].Attempts[0].Worker),
		st.TasksList[0].Attempts[0].Outcome, st.TasksList[0].Attempts[0].Reason}
	for k, v := range st.TasksList[0].Params {
		texts = append(texts, k, v)
	}
	for _, s := range texts {
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("%q", s)
		}
	}
	var s scheduler.Scheduling
	printTexts(&s) // with all that is not there
}
