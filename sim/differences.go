package sim

import (
	"fmt"
	"time"
)

// differences lists, in words, how the run's rules differ from the live ones.
func (w *world) differences() []string {
	s := w.scenario
	out := []string{
		"one scheduler knows of every host: there are no groups, leaders, elections or messages that are lost",
		"what a task needs to start is at its host already, and its result costs no transfer",
		"tasks are as long as they say, and none fails by itself",
	}
	add := func(applies bool, format string, args ...any) {
		if applies {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(s.Paper, "the published rules: scheduling knows at once and costs nothing, moves take no time, there are no "+
		"checkpoints, and a task ends when its host stops being available, its owner's return and its notice included")
	add(s.Paper && s.Network != Network{}, "the network's figures are not used")
	add(s.Paper && s.Checkpoints != Checkpoints{}, "the checkpoints' figures are not used")
	add(s.Paper && s.Hosts.Owner != Kill, "owners that come back end tasks, where they live suspend them")
	add(!s.Paper && s.Network == Network{},
		"the network takes no time and loses nothing, and hosts that vanish are missed at once")
	add(!s.Paper && s.Network != Network{} && s.Network.Detect == 0, "hosts that vanish are missed at once")
	add(!s.Workload.Requeue, "a task lost with its host is gone; live it is run again")
	add(s.Hosts.Sharing == Share, "a host's tasks share it equally; live they wait for a slot")
	add(s.Rates != nil, "hosts execute classes at rates that are imposed, and policies know them")
	add(w.inOrder, "a lost task goes back before those that came later")
	add(s.Workload.Redraw && w.classes != nil, "the work of a lost task is drawn anew")
	add(s.Hosts.Speeds == Uniform && s.Rates == nil, "every host is the reference core while it is available")
	add(!s.Paper && w.owner == Kill, "owners that come back end tasks; live they suspend them")
	add(knowing(s.Placement), "the oracle knows the trace")
	add(w.ahead == 0, "no task is given ahead to a busy host")
	add(w.ahead > 0, "a host is given up to %d tasks ahead", w.ahead)
	add(w.model != "" && !s.Paper, "each host's record is known to the scheduler as of its last advert, without delay")
	add(!s.Paper && w.mover != nil, "tasks move one after the other, and what a move brought is lost with its new host; "+
		"live they are placed together, and it is a checkpoint")
	add(w.copier != nil, "the last tasks are looked at each %v for copies", time.Duration(tailEvery))
	add(!s.Paper && s.Checkpoints.Auto, "a task's checkpoint interval is chosen as its run begins, live after each "+
		"checkpoint")
	add(!s.Paper && (s.Checkpoints.Every > 0 || s.Checkpoints.Auto), "checkpoints come by work done on the reference core")
	return out
}
