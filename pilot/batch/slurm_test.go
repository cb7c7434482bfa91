package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"godwit/pilot"
)

// recorded returns output of Slurm 22.05 on four nodes with the partitions idle, the default one, and night.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fake returns a cluster whose commands print the given output, and the commands that were run.
func fake(output map[string]string) (*Slurm, *[]string) {
	var ran []string
	s := &Slurm{Name: "godwit-pilot", User: "root", Script: "#!/bin/sh\n"}
	s.run = func(_ context.Context, _ string, argv ...string) ([]byte, error) {
		ran = append(ran, strings.Join(argv, " "))
		out, ok := output[argv[0]]
		if !ok {
			return nil, errors.New(argv[0] + " fails")
		}
		return []byte(out), nil
	}
	return s, &ran
}

func TestSnapshotOfRecordedQueue(t *testing.T) {
	s, _ := fake(map[string]string{
		"sinfo":  string(recorded(t, "sinfo-2205-mixed")),
		"squeue": string(recorded(t, "squeue-2205")),
	})
	got, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"n1": true, "n2": true, "n3": true, "n4": true}
	want := &pilot.Snapshot{
		Nodes: []pilot.Node{{Name: "n1", Usable: true}, {Name: "n2", Usable: true}, {Name: "n3", Usable: true},
			{Name: "n4", Usable: true}},
		Places:  []pilot.Place{{ID: "10"}, {ID: "11"}, {ID: "17"}},
		Waiting: []pilot.Job{{ID: "15", Nodes: 4, Reach: all}}, // two tasks of two nodes at once
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSnapshotOfRunningPlaceholders(t *testing.T) {
	s, _ := fake(map[string]string{
		"sinfo": "n1|idle*|allocated|4\nn2|idle*|idle|4\nn2|night|idle|4\nn3|night|idle~|4\nn4|other|idle|2\n",
		"squeue": "1|RUNNING|None|1|4|idle|root||n1|godwit placeholder|godwit-pilot\n" +
			"2|COMPLETING|None|1|4|idle|root||n2|godwit placeholder|godwit-pilot\n" +
			"3|TIMEOUT|None|1|4|idle|root||n2|godwit placeholder|godwit-pilot\n" +
			"4|PENDING|Resources|1|4|idle|eve|||(null)|godwit-pilot\n" + // foreign job with the same name
			"5|PENDING|Priority|1|1|night|eve|||godwit placeholder|pilot2\n" + // another pilot's
			"6|PENDING|Priority|1|9|night,idle|eve|n[2-3]||(null)|mpi\n" +
			"7|PENDING|Priority|1|1|other|eve|||(null)|elsewhere\n" +
			"4_8|PENDING|Priority|2|2|idle|eve|||(null)|array\n",
	})
	got, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inIdle, both := map[string]bool{"n1": true, "n2": true}, map[string]bool{"n1": true, "n2": true, "n3": true}
	want := &pilot.Snapshot{
		Nodes: []pilot.Node{{Name: "n2", Usable: true}, {Name: "n4"}},
		Places: []pilot.Place{{ID: "1", Phase: pilot.Running, Node: "n1"},
			{ID: "2", Phase: pilot.Ending, Node: "n2"}},
		Waiting: []pilot.Job{{ID: "4", Nodes: 3, Reach: inIdle},
			{ID: "6", Nodes: 3, Reach: both, Needs: []string{"n2", "n3"}}}, // 9 CPUs on nodes of 4
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	s.Partition = "absent"
	if _, err := s.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), `"absent"`) {
		t.Errorf("a partition without nodes: %v", err)
	}
}

func TestSnapshotFailsWithTheCommand(t *testing.T) {
	for _, output := range []map[string]string{
		{}, {"sinfo": "n1|a*|idle|1"}, {"sinfo": "n1|a*"}, {"sinfo": "n1|a*|idle|1", "squeue": "1|PENDING"},
	} {
		if s, _ := fake(output); s != nil {
			if _, err := s.Snapshot(t.Context()); err == nil {
				t.Errorf("%v: no error", output)
			}
		}
	}
}

func TestSubmitNamesThePlaceholder(t *testing.T) {
	s, ran := fake(map[string]string{"sbatch": "12;cluster\n"})
	s.Partition, s.Account, s.Extra = "night", "physics", []string{"--time=8:00:00"}
	id, err := s.Submit(t.Context())
	if id != "12" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	for _, want := range []string{"--job-name=godwit-pilot", "--partition=night", "--account=physics", " --time=8:00:00"} {
		if !strings.Contains((*ran)[0], want) {
			t.Errorf("%s: without %s", (*ran)[0], want)
		}
	}
	s, _ = fake(map[string]string{"sbatch": "Submitted batch job 12\n"})
	if _, err := s.Submit(t.Context()); err == nil {
		t.Error("output without a job ID: no error")
	}
}

func TestEndSignalsOrCancels(t *testing.T) {
	s, ran := fake(map[string]string{"scancel": ""})
	err := errors.Join(s.End(t.Context(), pilot.Graceful, []string{"1", "2"}),
		s.End(t.Context(), pilot.Drastic, []string{"3"}))
	want := []string{"scancel --quiet --batch --signal=USR1 1 2", "scancel --quiet 3"}
	if err != nil || !slices.Equal(*ran, want) {
		t.Errorf("%q, %v, want %q", *ran, err, want)
	}
}
