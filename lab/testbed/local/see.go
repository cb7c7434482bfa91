package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/lab/testbed/clock"
)

// guests lists the processes that nodes run tasks in: their children. It is empty
// where the system does not show processes below /proc.
func (t *trial) guests() (pids []int) {
	nodes := map[int]bool{}
	for _, n := range t.sw.Nodes {
		nodes[n.PID()] = true
	}
	entries, _ := filepath.Glob("/proc/[0-9]*") // a pattern that is right
	for _, e := range entries {
		pid, err := strconv.Atoi(filepath.Base(e))
		if err != nil {
			continue
		}
		if fields := processStat(pid); len(fields) > statParent {
			if parent, _ := strconv.Atoi(fields[statParent]); nodes[parent] {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Fields of /proc/PID/stat after the name in parentheses, which may have anything in it
// (proc_pid_stat(5): 3, 4, 14 and 15), and the unit of times there, USER_HZ.
const (
	statState  = 0
	statParent = 1
	statUser   = 11
	statSystem = 12
	statUnit   = 10 * time.Millisecond
)

// processStat returns these fields; nil if there is no such process, or no /proc.
func processStat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	i := strings.LastIndexByte(string(b), ')')
	return strings.Fields(string(b[i+1:]))
}

// cpuOf is the processor time of each process so far, of those that are there.
func cpuOf(pids []int) map[int]time.Duration {
	used := map[int]time.Duration{}
	for _, pid := range pids {
		fields := processStat(pid)
		if len(fields) <= statSystem {
			continue
		}
		user, err := strconv.ParseInt(fields[statUser], 10, 64)
		system, err2 := strconv.ParseInt(fields[statSystem], 10, 64)
		if err == nil && err2 == nil {
			used[pid] = time.Duration(user+system) * statUnit
		}
	}
	return used
}

// standstill is how long after begun all processes are stopped, or gone; -1 if there
// are none to see, or it takes longer than anybody waits.
func standstill(ctx context.Context, pids []int, begun time.Time) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for at := begun; len(pids) > 0 && clock.SleepUntil(ctx, at); at = time.Now().Add(poll) {
		runs := false
		for _, pid := range pids {
			if fields := processStat(pid); len(fields) > statState && fields[statState] != "T" && fields[statState] != "Z" {
				runs = true
			}
		}
		if !runs {
			return time.Since(begun)
		}
	}
	return -1
}

// print writes the report for people.
func (rep *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%d nodes with %d guests that use all they get; local jobs of %.3g s of work on each core, %d of "+
		"each way\n", rep.Nodes, rep.Slots, rep.WorkS, rep.Rounds)
	var rows [][]string
	for _, way := range rep.Ways {
		guests := "-"
		if way.Guests >= 0 {
			guests = fmt.Sprintf("%.2f", way.Guests)
		}
		rows = append(rows, []string{fmt.Sprintf("%.3f", way.MakespanS.Mean),
			fmt.Sprintf("%.3f-%.3f", way.MakespanS.Min, way.MakespanS.Max),
			fmt.Sprintf("%+.3f", way.AddedS), fmt.Sprintf("%+.3f", way.Polls), guests, way.Way})
	}
	table.Print(w, "MAKESPAN/S RANGE/S ADDED/S POLLS GUESTS/CORES LOCAL-JOB", rows)
	if s := rep.Stops; s.N > 0 {
		fmt.Fprintf(w, "after the owner's word every guest stood still in %.1f ms in the mean, %.1f ms at most\n",
			1000*s.Mean, 1000*s.Max)
	}
	fmt.Fprintf(w, "published (Grundeken 2009, Table 4.2): %.1f to %.1f s added, %.1f to %.1f polls of %v, to jobs of "+
		"40 tasks of 60 s\n",
		koalaLeast, koalaMost, koalaLeast/koalaPoll.Seconds(), koalaMost/koalaPoll.Seconds(), koalaPoll)
	return nil
}
