package plan

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"godwit/sim"
)

// ArrivalsFile is the file, in --dir, of the jobs that were handed in: what --jobs
// reads.
const ArrivalsFile = "arrivals.csv"

// arrivalsHeader are its columns: when the job comes, after the window's start, its
// class and number of tasks, and the work of each; times are the trace's, in
// nanoseconds, so that a set that is read is the one that was written.
var arrivalsHeader = []string{"at_ns", "class", "tasks", "work_ns"}

// WriteArrivals writes jobs, by time.
func WriteArrivals(to io.Writer, jobs []Job) error {
	w := csv.NewWriter(to)
	_ = w.Write(arrivalsHeader) // its error is Error's
	for _, j := range jobs {
		_ = w.Write([]string{strconv.FormatInt(int64(j.At), 10), j.Class, strconv.Itoa(j.Tasks),
			strconv.FormatInt(int64(j.Work), 10)})
	}
	w.Flush()
	return w.Error()
}

// readArrivals reads jobs of some classes within a window.
func readArrivals(from io.Reader, classes []sim.Class, window time.Duration) (jobs []Job, err error) {
	r := csv.NewReader(from)
	r.FieldsPerRecord, r.ReuseRecord = len(arrivalsHeader), true
	known := map[string]bool{}
	for _, c := range classes {
		known[c.Name] = true
	}
	for line := 1; ; line++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if line == 1 {
			if rec[0] != arrivalsHeader[0] {
				return nil, fmt.Errorf("line 1: it begins with %q, and a set of jobs with %q", rec[0], arrivalsHeader[0])
			}
			continue
		}
		j, err := readArrival(rec)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		case !known[j.Class]:
			return nil, fmt.Errorf("line %d: the scenario has no class %q", line, j.Class)
		case len(jobs) > 0 && j.At < jobs[len(jobs)-1].At:
			return nil, fmt.Errorf("line %d: it comes before the job of the line before", line)
		case len(jobs) == maxArrivals:
			return nil, fmt.Errorf("line %d: there are more than %d jobs", line, maxArrivals)
		}
		if j.At < window { // a shorter replay has fewer
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

func readArrival(rec []string) (j Job, err error) {
	at, e1 := strconv.ParseInt(rec[0], 10, 64)
	tasks, e2 := strconv.Atoi(rec[2])
	work, e3 := strconv.ParseInt(rec[3], 10, 64)
	j = Job{At: time.Duration(at), Class: rec[1], Tasks: tasks, Work: time.Duration(work)}
	switch {
	case errors.Join(e1, e2, e3) != nil:
		return j, errors.Join(e1, e2, e3)
	case at < 0 || tasks < 1 || tasks > maxSwarmTasks || work <= 0:
		return j, errors.New("a job comes at 0 or later, and has one task or more, of work above 0")
	}
	return j, nil
}

// maxSwarmTasks bounds a job's tasks, as job files do.
const maxSwarmTasks = 1 << 30

// drawn are a scenario's jobs as the simulator draws them, each class from a
// stream of its own: equal seeds give equal sets, whatever the policy is.
func drawn(s *sim.Scenario) (jobs []Job, err error) {
	for i, c := range s.Workload.Classes {
		switch {
		case c.Arrival == sim.Saturated:
			return nil, fmt.Errorf("class %d (%s): a swarm cannot keep its queue full by itself: give times between jobs", i,
				c.Name)
		}
	}
	a := sim.NewArrivals(&s.Workload, s.End.Sub(s.Start), s.Seed)
	for left := 0; ; left-- {
		next, ok := a.Next()
		if !ok {
			return jobs, nil
		}
		if left > 0 {
			continue // another task of the job before
		}
		if len(jobs) == maxArrivals {
			return nil, fmt.Errorf("more than %d jobs: give a longer time between them", maxArrivals)
		}
		c := &s.Workload.Classes[next.Class]
		left = max(1, c.Tasks)
		jobs = append(jobs, Job{At: next.At, Class: c.Name, Work: next.Work, Tasks: left})
	}
}
