package batch

import (
	"context"
	"errors"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"godwit/pilot"
)

// pbs returns a cluster whose commands print the given output.
func pbs(nodes, queue string) *PBS {
	run, _ := answer(map[string]string{"pbsnodes -a": nodes, "qstat -f": queue})
	return &PBS{Name: "godwit-pilot", User: "root", run: run}
}

func TestPBSSnapshotOfOpenPBS(t *testing.T) {
	s := pbs(string(recorded(t, "pbsnodes-openpbs")), string(recorded(t, "qstat-openpbs")))
	got, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]bool{"n1": true, "n2": true, "n3": true, "n4": true}
	want := &pilot.Snapshot{
		Nodes: []pilot.Node{{Name: "n3", Usable: true}, {Name: "n5"}}, // n5 belongs to another queue
		Places: []pilot.Place{{ID: "10.head", Phase: pilot.Running, Node: "n1"},
			{ID: "11.head", Phase: pilot.Ending, Node: "n2"}, {ID: "12.head"}},
		Waiting: []pilot.Job{
			{ID: "13.head", Nodes: 3, Reach: shared}, // 12 CPUs on nodes of 4
			{ID: "14[].head", Nodes: 3, Reach: shared},
			{ID: "19.head", Nodes: 1, Reach: shared, Needs: []string{"n1"}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	s.Queue = "night"
	if got, err = s.Snapshot(t.Context()); err != nil || len(got.Waiting) != 1 || got.Waiting[0].ID != "20.head" {
		t.Errorf("the queue night: %+v, %v", got, err)
	}
}

func TestPBSSnapshotOfTorque(t *testing.T) {
	got, err := pbs(string(recorded(t, "pbsnodes-torque")), string(recorded(t, "qstat-torque"))).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &pilot.Snapshot{
		Nodes:  []pilot.Node{{Name: "n2", Usable: true}},
		Places: []pilot.Place{{ID: "7.head", Phase: pilot.Running, Node: "n1"}},
		Waiting: []pilot.Job{{ID: "9.head", Nodes: 2, Reach: map[string]bool{"n1": true, "n2": true, "n3": true},
			Needs: []string{"n1", "n3"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A variable of a job contains lines that look like another job of the pilot's user.
func TestPBSForgedJobIsNoPlaceholder(t *testing.T) {
	forged := "Job Id: 5.h\n    Job_Name = godwit-pilot\n    Job_Owner = root@h\n    job_state = R\n"
	queue := "Job Id: 4.h\n    Job_Name = x\n    Job_Owner = eve@h\n    job_state = R\n    Variable_List = A=\n" + forged +
		"Job Id: 6.h\n\nJob Id: 5.h\n    Job_Name = important\n    Job_Owner = root@h\n    job_state = R\n"
	got, err := pbs("n1\n    state = free\n", queue).Snapshot(t.Context())
	if err != nil || len(got.Places) != 0 {
		t.Errorf("%+v, %v, want no placeholders", got, err)
	}
}

func TestPBSSnapshotFailsWithTheCommand(t *testing.T) {
	for _, tt := range [][2]string{
		{"", ""}, {"n1\n  state = free\n", "Job Id: 1.h\n"},
	} {
		if _, err := pbs(tt[0], tt[1]).Snapshot(t.Context()); err == nil {
			t.Errorf("%q: no error", tt)
		}
	}
	if _, err := (&PBS{run: func() runner { r, _ := answer(nil); return r }()}).Snapshot(t.Context()); err == nil {
		t.Error("pbsnodes fails: no error")
	}
	if _, err := parsePBSJobs(make([]byte, maxOutput+1)); err == nil {
		t.Error("output beyond the limit: no error")
	}
}

// Some qstat fail with the code of an unknown job if the list is empty.
func TestPBSEmptyQueue(t *testing.T) {
	s := pbs("n1\n  state = free\n", "")
	inner := s.run
	s.run = func(ctx context.Context, stdin string, argv ...string) ([]byte, error) {
		if argv[0] == "qstat" {
			return command(ctx, "", "sh", "-c", "exit 153")
		}
		return inner(ctx, stdin, argv...)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	got, err := s.Snapshot(t.Context())
	if err != nil || len(got.Nodes) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPBSSubmitAndEnd(t *testing.T) {
	run, ran := answer(map[string]string{"qsub": "12.head\n", "qsig": "", "qdel": ""})
	s := &PBS{Name: "godwit-pilot", Queue: "night", Account: "lab", Resources: []string{"select=1:ncpus=4", "place=excl"},
		Extra: []string{"-W", "x=y"}, Script: "#!/bin/sh\n", run: run}
	id, err := s.Submit(t.Context())
	err = errors.Join(err, s.End(t.Context(), pilot.Graceful, []string{"1.h", "2.h"}),
		s.End(t.Context(), pilot.Drastic, []string{"3.h"}))
	if id != "12.head" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	want := `^qsub -N godwit-pilot -p -1024 -r n -j oe -o /dev/null -S /bin/sh -l select=1:ncpus=4 -l place=excl ` +
		`-q night -A lab -W x=y \S+godwit-pilot-\d+\.sh;qsig -s SIGUSR1 1\.h 2\.h;qdel 3\.h$`
	if got := strings.Join(*ran, ";"); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%q, want %q", got, want)
	}
	run, _ = answer(map[string]string{"qsub": "--help"})
	if _, err := (&PBS{run: run}).Submit(t.Context()); err == nil {
		t.Error("output without a job ID: no error")
	}
}

func FuzzParsePBS(f *testing.F) {
	for _, kind := range []string{"openpbs", "torque"} {
		f.Add(recorded(f, "pbsnodes-"+kind), recorded(f, "qstat-"+kind))
	}
	f.Fuzz(func(t *testing.T, nodes, queue []byte) {
		hosts, err := parsePBSNodes(nodes)
		if err != nil {
			return
		}
		jobs, err := parsePBSJobs(queue)
		if err != nil {
			return
		}
		got, err := (&PBS{Name: "godwit-pilot", User: "root"}).snapshot(hosts, jobs)
		if err != nil {
			return
		}
		if len(got.Nodes) > len(hosts) || len(got.Places)+len(got.Waiting) > len(jobs) {
			t.Errorf("%d nodes, %d placeholders and %d jobs of %d and %d records", len(got.Nodes), len(got.Places),
				len(got.Waiting), len(hosts), len(jobs))
		}
		for i := range got.Waiting {
			if got.Waiting[i].Nodes < 0 {
				t.Errorf("job %+v", got.Waiting[i])
			}
		}
	})
}
