package node

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/credibility"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// A job that does not say how its results are checked has the minimum of its pool, with stages too; "verify: off" has none.
func TestVerifyDefault(t *testing.T) {
	five, err := task.ParseVerify("5%")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		file  task.File
		rules overlay.Manifest
		want  string
	}{
		"open":         {task.File{}, overlay.Manifest{Admission: overlay.Open}, "3%"},
		"invited":      {task.File{}, overlay.Manifest{Admission: overlay.Invited}, "1%"},
		"listed":       {task.File{}, overlay.Manifest{Admission: overlay.Listed}, "0.5%"},
		"off":          {task.File{VerifyOff: true}, overlay.Manifest{Admission: overlay.Open}, "off"},
		"stages":       {task.File{Stages: make([]task.FileStage, 1)}, overlay.Manifest{Admission: overlay.Open}, "3%"},
		"its own":      {task.File{Verify: five}, overlay.Manifest{Admission: overlay.Open}, "5%"},
		"off, a floor": {task.File{VerifyOff: true}, overlay.Manifest{Checks: five}, "5%"},
	} {
		if got := verifyOf(&tt.file, &tt.rules).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A job without "verify" on live nodes ends, and the least sample of its results is checked without its owner's help.
func TestDefaultChecksOnLiveNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		submitter := s.others(s.leading(s.peers[0]))[0]
		for _, tasks := range []int{3, 30} {
			sub := sleepJob(t, submitter.Node, tasks, time.Second)
			sub.File.VerifyOff = false
			id, err := submitter.Submit(t.Context(), sub)
			if err != nil {
				t.Fatal(err)
			}
			submitter.finish(id, tasks)
			c := submitter.settle(id).Checks
			least := credibility.Sample(uint64(tasks))
			if c == nil || c.Verify != "3%" || c.Wrong+c.Open+c.Waits > 0 || c.Final < least || !c.Delivered {
				t.Errorf("%d tasks: %+v, want %d at least checked", tasks, c, least)
			}
		}
	})
}

// A job without "verify" whose tasks another cell runs too ends, and its checks end without its owner's help.
func TestDefaultChecksOfDelegatedTasks(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	synctest.Test(t, func(t *testing.T) {
		s := celled(t, 10, func(*peer) {})
		for _, of := range s.cells() {
			submitter := of[len(of)-1]
			sub := sleepJob(t, submitter.Node, 60, 20*time.Second)
			sub.File.VerifyOff = false
			id, err := submitter.Submit(t.Context(), sub)
			if err != nil {
				t.Fatal(err)
			}
			var c *message.Checks
			s.within(30*time.Minute, "the job is over, and checked", func() bool {
				st, err := submitter.Job(t.Context(), id, 0, 0)
				c = st.Checks
				return err == nil && st.Settled()
			})
			if c.Wrong+c.Open+c.Waits > 0 || c.Final < credibility.Sample(60) || !c.Delivered {
				t.Errorf("%+v", c)
			}
			s.theirs(id, 8)
		}
	})
}
