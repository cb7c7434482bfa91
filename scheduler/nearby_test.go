package scheduler

import (
	"fmt"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/task"
)

// fetches runs a sweep of so many scenes, the axis that moves fastest, in five nodes whose workers fetch
// what they lack, and returns how many inputs came to those that do not have all of them anyway. Inputs of the
// size matter to the leader or do not.
func fetches(t *testing.T, policy string, scenes int, size int64) int {
	t.Helper()
	s := newSwarm(t, 1, 5)
	s.nodes[0].coord.dispatch.goBy(policyOf(t, policy))
	var names []string
	var inputs []task.FileRef
	for i := range scenes {
		names = append(names, fmt.Sprintf("%03d", i))
		inputs = append(inputs, task.FileRef{Name: names[i], CID: task.RawCID([]byte(names[i])), Size: size})
	}
	type has struct {
		node  int
		input task.CID
	}
	came := map[has]bool{}
	var spec *task.Job
	outcome := s.outcome
	s.outcome = func(n *swarmNode, id task.TaskID) task.Result {
		inv, err := spec.Expand(id.Index)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range inv.Files {
			if n.n > 1 { // not the leader and the submitter
				came[has{n.n, f.CID}] = true
			}
		}
		return outcome(n, id)
	}
	s.run(time.Second, func() bool { return s.nodes[0].coord.Hosts().Slots == 10 })
	id := s.nodes[1].submit(1, func(j *task.Job) {
		j.Sweep.Axes = []task.Axis{{Name: "frame", From: 1, Step: 1, Count: 20}, {Name: "scene", Values: names}}
		j.Files, j.Inputs, j.Work = []string{"{{.scene}}"}, inputs, time.Second
		spec = j
	})
	s.run(10*time.Minute, func() bool { return s.nodes[1].final(id) })
	st, _ := s.nodes[1].sub.Job(id)
	if want := uint64(20 * scenes); st.State != message.JobDone || s.nodes[1].results(id) != want {
		t.Fatalf("%d of %d tasks have results: %+v", s.nodes[1].results(id), want, st)
	}
	return len(came)
}

func policyOf(t *testing.T, name string) place.Policy {
	t.Helper()
	p, err := place.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Tasks go where their inputs are, whatever the policy of placement: members fetch at most two thirds
// of what they do where that is not heeded, and every task still runs.
func TestTasksGoWhereTheirInputsAre(t *testing.T) {
	for _, policy := range []string{"", "fcfs", "fcfs:order=turn"} {
		for _, scenes := range []int{5, 30} {
			blind, near := fetches(t, policy, scenes, leastNear-1), fetches(t, policy, scenes, leastNear)
			t.Logf("%q, %d scenes for 3 members: %d fetched, %d where the leader heeds nothing", policy, scenes, near, blind)
			if 3*near > 2*blind {
				t.Errorf("%q, %d scenes: %d were fetched, and %d where it is not heeded", policy, scenes, near, blind)
			}
		}
	}
}

// What is remembered is bounded, and the input that was placed by longest ago is forgotten.
func TestNearbyForgets(t *testing.T) {
	var n nearby
	input := func(i int) task.CID { return task.CID(fmt.Sprint(i)) }
	for i := range mostInputs {
		n.Note("a", input(i))
	}
	n.Note("b", input(0))
	n.Note("a", input(mostInputs))
	if !n.Holds("a", input(0)) || !n.Holds("b", input(0)) || n.Held(input(1)) || len(n.held) != mostInputs {
		t.Errorf("%d inputs are remembered, the oldest among them: %v", len(n.held), n.Held(input(1)))
	}
	for i := range mostHolders {
		n.Note(task.PeerID(fmt.Sprint(i)), input(0))
	}
	if n.Holds("a", input(0)) || !n.Holds("0", input(0)) {
		t.Error("not the newest holders are remembered")
	}
}
