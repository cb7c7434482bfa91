package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Job is a line of the Standard Workload Format, version 2.2 (Chapin and
// others 1999; Parallel Workloads Archive). Times are seconds, Submit since the
// log's start; -1 stands for what is not known.
type Job struct {
	Number       int64
	Submit       float64
	Wait         float64
	RunTime      float64
	Procs        int64 // allocated
	CPUTime      float64
	MemoryKB     float64 // for each processor
	ReqProcs     int64
	ReqTime      float64
	ReqMemoryKB  float64
	Status       int64 // 1 completed, 0 failed, 5 cancelled
	User         int64
	Group        int64
	Executable   int64
	Queue        int64
	Partition    int64
	PrecedingJob int64
	ThinkTime    float64 // from the preceding job's end to this one's submission
}

// swfFields is how many numbers a line has.
const swfFields = 18

// A Workload is a log of jobs.
type Workload struct {
	Name string
	// Synthetic says which generator made the log; "" for one that was measured.
	Synthetic string
	// Comments are the header's lines without their semicolon: who measured
	// what where, and whom to thank.
	Comments []string
	Jobs     []Job // in the order of the log, which is that of submission
}

// MaxJobs bounds the jobs of a log that ReadSWF keeps; the largest public logs
// have a few million.
const MaxJobs = 1 << 24

// maxComments bounds the header's lines.
const maxComments = 10_000

// ReadSWF reads a workload, gzipped or not. Errors carry the line: see LineError.
func ReadSWF(name string, r io.Reader) (*Workload, error) {
	w := &Workload{Name: baseName(name)}
	err := EachJob(name, r, func(c string) error {
		if len(w.Comments) >= maxComments {
			return fmt.Errorf("more than %d comments", maxComments)
		}
		if label, ok := strings.CutPrefix(c, "Synthetic:"); ok {
			w.Synthetic = strings.TrimSpace(label)
			return nil
		}
		w.Comments = append(w.Comments, c)
		return nil
	}, func(j Job) error {
		if len(w.Jobs) >= MaxJobs {
			return fmt.Errorf("more than %d jobs", MaxJobs)
		}
		w.Jobs = append(w.Jobs, j)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(w.Jobs) == 0 {
		return nil, fmt.Errorf("%s: no jobs in it", name)
	}
	return w, nil
}

// EachJob reads a workload line by line, calling comment (which may be nil) for
// each comment and job for each job; it ends with their first error.
func EachJob(name string, r io.Reader, comment func(string) error, job func(Job) error) error {
	in, err := plain(name, r)
	if err != nil {
		return err
	}
	lines := newLineReader(name, in)
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if text, isComment := strings.CutPrefix(line, ";"); isComment {
			if comment != nil {
				if err := comment(strings.TrimSpace(text)); err != nil {
					return lines.wrap(err)
				}
			}
			continue
		}
		if line == "" {
			continue
		}
		j, err := parseJob(line)
		if err == nil {
			err = job(j)
		}
		if err != nil {
			return lines.wrap(err)
		}
	}
	return lines.err
}

func parseJob(line string) (Job, error) {
	var x [swfFields]float64
	n := 0
	for f := range strings.FieldsSeq(line) {
		if n == swfFields {
			return Job{}, fmt.Errorf("more than %d fields", swfFields)
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || !(math.Abs(v) <= maxSeconds) {
			return Job{}, fmt.Errorf("field %d, %q, is not a number of a workload", n+1, clip(f))
		}
		x[n] = v
		n++
	}
	if n != swfFields {
		return Job{}, fmt.Errorf("%d fields; a job has %d", n, swfFields)
	}
	if x[1] < 0 {
		return Job{}, errors.New("the job is submitted before the log begins")
	}
	return Job{
		Number: int64(x[0]), Submit: x[1], Wait: x[2], RunTime: x[3], Procs: int64(x[4]), CPUTime: x[5], MemoryKB: x[6],
		ReqProcs: int64(x[7]), ReqTime: x[8], ReqMemoryKB: x[9], Status: int64(x[10]), User: int64(x[11]),
		Group:      int64(x[12]),
		Executable: int64(x[13]), Queue: int64(x[14]), Partition: int64(x[15]), PrecedingJob: int64(x[16]), ThinkTime: x[17],
	}, nil
}

// WriteSWF writes a workload.
func WriteSWF(out io.Writer, l *Workload) error {
	w := bufio.NewWriter(out)
	for _, c := range l.Comments {
		fmt.Fprintf(w, "; %s\n", oneLine(c))
	}
	if l.Synthetic != "" {
		fmt.Fprintf(w, "; Synthetic: %s\n", oneLine(l.Synthetic))
	}
	for _, j := range l.Jobs {
		for i, v := range []float64{float64(j.Number), j.Submit, j.Wait, j.RunTime, float64(j.Procs), j.CPUTime, j.MemoryKB,
			float64(j.ReqProcs), j.ReqTime, j.ReqMemoryKB, float64(j.Status), float64(j.User), float64(j.Group),
			float64(j.Executable), float64(j.Queue), float64(j.Partition), float64(j.PrecedingJob), j.ThinkTime} {
			if i > 0 {
				w.WriteByte(' ')
			}
			w.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}

// WorkloadStats describes a workload. Run times are those of jobs that ran: the
// ones with a run time of 0 or none are only counted.
type WorkloadStats struct {
	Name         string  `json:"name"`
	Synthetic    string  `json:"synthetic,omitempty"`
	Jobs         int     `json:"jobs"`
	Users        int     `json:"users"`
	SpanS        float64 `json:"span_s"`         // from the first submission to the last
	InterArrival float64 `json:"interarrival_s"` // mean
	RunMean      float64 `json:"run_mean_s"`
	RunMedian    float64 `json:"run_median_s"`
	RunP90       float64 `json:"run_p90_s"`
	RunMax       float64 `json:"run_max_s"`
	NotRun       int     `json:"not_run"`
	ProcsMean    float64 `json:"procs_mean"`
	ProcsMax     int64   `json:"procs_max"`
	Serial       float64 `json:"serial"` // share of jobs with one processor
}

// DescribeWorkload computes a workload's statistics.
func DescribeWorkload(l *Workload) *WorkloadStats {
	s := &WorkloadStats{Name: l.Name, Synthetic: l.Synthetic, Jobs: len(l.Jobs)}
	users := map[int64]bool{}
	var runs, procs []float64
	first, last := math.Inf(1), math.Inf(-1)
	for _, j := range l.Jobs {
		first, last = min(first, j.Submit), max(last, j.Submit)
		if j.User >= 0 {
			users[j.User] = true
		}
		if j.RunTime <= 0 {
			s.NotRun++
		} else {
			runs = append(runs, j.RunTime)
		}
		n := j.Procs
		if n < 1 {
			n = j.ReqProcs
		}
		if n >= 1 {
			procs = append(procs, float64(n))
			s.ProcsMax = max(s.ProcsMax, n)
			if n == 1 {
				s.Serial++
			}
		}
	}
	slices.Sort(runs)
	s.Users = len(users)
	s.SpanS = max(0, last-first)
	s.InterArrival = s.SpanS / math.Max(1, float64(len(l.Jobs)-1))
	s.RunMean, s.RunMedian, s.RunP90, s.RunMax = mean(runs), quantile(runs, 0.5), quantile(runs, 0.9), quantile(runs, 1)
	s.ProcsMean = mean(procs)
	s.Serial /= math.Max(1, float64(len(procs)))
	return s
}
