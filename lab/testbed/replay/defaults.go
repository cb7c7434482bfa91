package replay

import (
	"errors"
	"fmt"
	"io"

	"godwit/lab/table"
)

// mostTime is the largest accepted ratio of a policy's time to that of FCFS, and mostMoves the largest number of moves for each
// task while no member leaves.
const (
	mostTime  = 1.2
	mostMoves = 0.1
)

// baseline is the name of the run that the others are compared with: FCFS, which moves nothing.
const baseline = "fcfs, none"

// tookS is the time from the submission of a run's first job to its last result, in seconds of the trace, and 0 if tasks
// are missing.
func (rep *report) tookS() float64 {
	if rep.Swarm.Succeeded < rep.Swarm.Arrived {
		return 0
	}
	return rep.Swarm.Response.Max
}

// moves is the number of moves for each task.
func (rep *report) moves() float64 {
	return float64(rep.Swarm.Migrations) / float64(max(1, rep.Swarm.Arrived))
}

// fcfsS is the time that FCFS took, in seconds of the trace; 0 if it did not end.
func (reps runs) fcfsS() float64 {
	for _, rep := range reps {
		if rep.name == baseline {
			return rep.tookS()
		}
	}
	return 0
}

// printDefaults writes a line for each policy, beside FCFS.
func (reps runs) printDefaults(w io.Writer) error {
	reps[0].printHead(w)
	fmt.Fprintln(w)
	fcfs := reps.fcfsS()
	var rows [][]string
	for _, rep := range reps {
		took, ratio := "-", "-"
		if s := rep.tookS(); s > 0 {
			took = table.Seconds(s)
			if fcfs > 0 {
				ratio = fmt.Sprintf("%.2f", s/fcfs)
			}
		}
		rows = append(rows, []string{rep.name, fmt.Sprintf("%d of %d", rep.Swarm.Succeeded, rep.Swarm.Arrived), took, ratio,
			fmt.Sprintf("%.2f", rep.moves())})
	}
	table.Print(w, "POLICIES DONE TIME OVER-FCFS MOVES-A-TASK", rows)
	return nil
}

// checkDefaults returns an error for each policy that is slower than FCFS beyond mostTime, or moves too often.
func (reps runs) checkDefaults() (err error) {
	fcfs := reps.fcfsS()
	if fcfs == 0 {
		return fmt.Errorf("the run %q, the base of the comparison, did not complete its tasks", baseline)
	}
	for _, rep := range reps {
		s := rep.tookS()
		switch {
		case s == 0:
			err = errors.Join(err, fmt.Errorf("%s: %d of %d tasks done", rep.name, rep.Swarm.Succeeded, rep.Swarm.Arrived))
		case s > mostTime*fcfs:
			err = errors.Join(err, fmt.Errorf("%s: it took %.2f times as long as FCFS, want at most %g", rep.name, s/fcfs, mostTime))
		}
		if rep.moves() > mostMoves {
			err = errors.Join(err, fmt.Errorf("%s: %.2f moves for each task, want at most %g", rep.name, rep.moves(), mostMoves))
		}
	}
	return err
}
