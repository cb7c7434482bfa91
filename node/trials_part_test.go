package node

import (
	"testing"

	"godwit/task"
	"godwit/task/referee"
)

// A teller whose result was drawn cannot show a part of it that is right, in place of the whole.
func TestTrialOfAPart(t *testing.T) {
	r := task.Result{Worker: "w", Signature: []byte("signed")}
	name := task.TallyName(&r)
	one := trial{in: &membership{id: "lab"}, tally: &task.Tally{}, name: name[:], statement: referee.Statement{Result: r}}
	spec := &task.Job{Overlay: "lab"}
	if !one.isOffered(spec) {
		t.Fatal("the whole is not what was offered")
	}
	if one.statement.Part = (&task.PartProof{Last: 1}); one.isOffered(spec) {
		t.Error("a part of it is")
	}
}
