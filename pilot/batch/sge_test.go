package batch

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"godwit/pilot"
)

// answer returns a runner that prints output by the words of a command, of which the longest that fits counts, and the
// commands that were run.
func answer(output map[string]string) (runner, *[]string) {
	var ran []string
	return func(_ context.Context, _ string, argv ...string) ([]byte, error) {
		line := strings.Join(argv, " ")
		ran = append(ran, line)
		best, found := "", false
		for words := range output {
			if strings.HasPrefix(line, words) && len(words) >= len(best) {
				best, found = words, true
			}
		}
		if !found {
			return nil, errors.New(argv[0] + " fails")
		}
		return []byte(output[best]), nil
	}, &ran
}

const (
	sgeQueues = "qstat -xml -u * -f -r"
	sgeHeld   = "qstat -xml -u * -s h"
	noJobs    = "<?xml version='1.0'?>\n<job_info><queue_info></queue_info><job_info></job_info></job_info>"
)

// later is the list of held jobs that belongs to the recorded ones.
const later = `<job_info><queue_info></queue_info><job_info>
<job_list state="pending"><JB_job_number>11</JB_job_number><JB_name>later</JB_name><JB_owner>root</JB_owner>
<state>qw</state><slots>1</slots></job_list></job_info></job_info>`

// The recorded cluster has Grid Engine 8.1.9 and four hosts with two slots each. The environment smp keeps a job's
// slots on one host, and mpi has one slot a host.
func TestSGESnapshotOfRecordedQueue(t *testing.T) {
	run, ran := answer(map[string]string{
		sgeQueues: string(recorded(t, "qstat-sge819-waiting")), sgeHeld: later,
		"qconf -sp smp": "pe_name            smp\nallocation_rule    $pe_slots\n",
		"qconf -sp mpi": "pe_name            mpi\nallocation_rule    1\n",
	})
	s := &SGE{Name: "godwit-pilot", User: "root", run: run}
	got, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"n1": true, "n2": true, "n3": true, "n4": true}
	want := &pilot.Snapshot{Waiting: []pilot.Job{
		{ID: "7", Nodes: 3, Reach: all},
		{ID: "8", Nodes: 1, Reach: all},
		{ID: "13", Nodes: 1, Reach: map[string]bool{"n2": true}, Needs: []string{"n2"}},
		{ID: "15", Nodes: 1, Reach: map[string]bool{"n2": true, "n3": true}},
		{ID: "9", Nodes: 1, Reach: all},  // one task waits
		{ID: "14", Nodes: 1, Reach: all}, // of any queue
		{ID: "16", Nodes: 1, Reach: all},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := s.Snapshot(t.Context()); err != nil || len(*ran) != 6 {
		t.Errorf("%v; %q, want the rules of environments to be read once", err, *ran)
	}
}

// queueXMLText returns a queue instance.
func queueXMLText(name string, used int, state, jobs string) string {
	return "<Queue-List><name>" + name + "</name><slots_used>" + string(rune('0'+used)) + "</slots_used><slots_total>4" +
		"</slots_total><state>" + state + "</state>" + jobs + "</Queue-List>"
}

func jobXMLText(id, name, owner, state, more string) string {
	return "<job_list><JB_job_number>" + id + "</JB_job_number><full_job_name>" + name + "</full_job_name><JB_owner>" +
		owner + "</JB_owner><state>" + state + "</state><slots>4</slots>" + more + "</job_list>"
}

func TestSGESnapshotOfPlaceholders(t *testing.T) {
	run, _ := answer(map[string]string{sgeHeld: noJobs, sgeQueues: "<job_info><queue_info>" +
		queueXMLText("idle.q@n1", 4, "", jobXMLText("1", "godwit-pilot", "root", "r", "")) +
		queueXMLText("idle.q@n2", 4, "", jobXMLText("2", "godwit-pilot", "root", "dr", "")) +
		queueXMLText("idle.q@n3", 0, "", "") +
		queueXMLText("day.q@n3", 1, "", jobXMLText("3", "godwit-pilot", "eve", "r", "")) + // foreign
		queueXMLText("day.q@n4.example.org", 0, "", "") +
		queueXMLText("idle.q@n5", 0, "au", "") +
		"</queue_info><job_info>" +
		jobXMLText("4", "godwit-pilot", "root", "qw", "") +
		jobXMLText("5", "godwit-pilot2", "ada", "qw", "") + // another pilot's
		jobXMLText("6", "a\x01b &c", "eve", "qw", "<tasks>3-9:2</tasks>") +
		jobXMLText("7", "broken", "eve", "Eqw", "") +
		jobXMLText("8", "held", "eve", "hqw", "") +
		jobXMLText("9", "daily", "eve", "qw", "<hard_req_queue>day.q@n4</hard_req_queue>") +
		"</job_info></job_info>"})
	s := &SGE{Name: "godwit-pilot", User: "root", Queue: "idle.q", run: run}
	got, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"n1": true, "n2": true, "n3": true, "n4.example.org": true, "n5": true}
	want := &pilot.Snapshot{
		Nodes: []pilot.Node{{Name: "n4.example.org"}},
		Places: []pilot.Place{{ID: "1", Phase: pilot.Running, Node: "n1"}, {ID: "2", Phase: pilot.Ending, Node: "n2"},
			{ID: "4"}},
		Waiting: []pilot.Job{{ID: "6", Nodes: 4, Reach: all}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	s.Queue = "absent"
	if _, err := s.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), `"absent"`) {
		t.Errorf("a queue without hosts: %v", err)
	}
}

// A disabled queue of a recorded cluster is not idle.
func TestSGEStatesAreNotIdle(t *testing.T) {
	list, err := parseSGE(recorded(t, "qstat-sge819-disabled"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.instances {
		list.instances[i].used = 0
	}
	if nodes := idleHosts(list.instances, nil); len(nodes) != 3 {
		t.Errorf("%d idle hosts, want 3: %v", len(nodes), nodes)
	}
}

func TestSGESnapshotFailsWithTheCommand(t *testing.T) {
	for _, output := range []map[string]string{
		{}, {sgeQueues: "error: cannot connect"}, {sgeQueues: "<job_info>"}, {sgeQueues: ""},
		{sgeQueues: "<job_info>" + queueXMLText("all.q", 0, "", "") + "</job_info>"},
		{sgeQueues: "<job_info>" + queueXMLText("all.q@n1", 0, "", "") + jobXMLText("1", "j", "e", "qw", "") + "</job_info>"},
		{sgeQueues: "<job_info>" + jobXMLText("-1", "j", "e", "qw", "") + "</job_info>", sgeHeld: noJobs},
	} {
		run, _ := answer(output)
		if _, err := (&SGE{Name: "godwit-pilot", User: "root", run: run}).Snapshot(t.Context()); err == nil {
			t.Errorf("%v: no error", output)
		}
	}
}

func TestNodesOf(t *testing.T) {
	for _, tt := range []struct {
		rule                             string
		slots, perHost, hosts, wantNodes int
	}{
		{"$pe_slots", 8, 4, 10, 1}, {"$fill_up", 9, 4, 10, 3}, {"$round_robin", 9, 4, 5, 5}, {"2", 9, 4, 10, 5},
		{"", 1, 4, 10, 1}, {"0", 8, 4, 10, 2}, {"nonsense", 8, 4, 10, 2},
	} {
		if got := nodesOf(tt.rule, tt.slots, tt.perHost, tt.hosts); got != tt.wantNodes {
			t.Errorf("%+v: %d nodes", tt, got)
		}
	}
}

func TestSGEPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"all.q", "all.q", true}, {"all.q", "all.qx", false}, {"a*", "all.q", true}, {"n[12]|m?", "m7", true},
		{"n[12]", "n3", false}, {"!n1", "n1", true}, {"@group", "n1", true}, {"[", "n1", true},
	} {
		if got := matches(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%q, %q: %v", tt.pattern, tt.name, got)
		}
	}
}

func TestSGESubmitAndEnd(t *testing.T) {
	run, ran := answer(map[string]string{"qsub": "12\n", "qmod": "", "qdel": ""})
	s := &SGE{Name: "godwit-pilot", Queue: "idle.q", Account: "lab", Extra: []string{"-pe", "smp", "16"}, run: run}
	id, err := s.Submit(t.Context())
	err = errors.Join(err, s.End(t.Context(), pilot.Graceful, []string{"1", "2"}),
		s.End(t.Context(), pilot.Drastic, []string{"3"}))
	want := []string{"qsub -terse -N godwit-pilot -p -1023 -r n -notify -S /bin/sh -o /dev/null -e /dev/null -q idle.q " +
		"-A lab -pe smp 16", "qmod -sj 1 2", "qdel 3"}
	if id != "12" || err != nil || !slices.Equal(*ran, want) {
		t.Errorf("%q, %v, %q, want %q", id, err, *ran, want)
	}
	run, _ = answer(map[string]string{"qsub": "Your job 12 has been submitted"})
	if _, err := (&SGE{run: run}).Submit(t.Context()); err == nil {
		t.Error("output without a job ID: no error")
	}
}

func FuzzParseSGE(f *testing.F) {
	f.Add(recorded(f, "qstat-sge819-waiting"))
	f.Add(recorded(f, "qstat-sge819-disabled"))
	f.Add([]byte(later))
	f.Fuzz(func(t *testing.T, output []byte) {
		list, err := parseSGE(output)
		if err != nil {
			return
		}
		s := &SGE{Name: "godwit-pilot", User: "root", rules: map[string]string{"mpi": "1", "": "$round_robin"}}
		got, err := s.snapshot(list, map[string]bool{"11": true})
		if err != nil {
			return
		}
		if len(got.Nodes) > len(list.instances) {
			t.Errorf("%d nodes of %d queues", len(got.Nodes), len(list.instances))
		}
		for i := range got.Waiting {
			if j := &got.Waiting[i]; j.Nodes < 1 || j.ID == "" {
				t.Errorf("job %+v", *j)
			}
		}
	})
}
