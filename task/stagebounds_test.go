package task

import (
	"strings"
	"testing"
	"time"
)

// A stage may say what its tasks need; the others have what the job says.
func TestBoundsOfStages(t *testing.T) {
	src := strings.Replace(pipeline, "name: fit\n", "name: fit\nmemory: 1GiB\nwork: 10s\n", 1)
	src = strings.Replace(src, "each: simulate\n", "each: simulate\n    memory: 64MiB\n    work: 2s\n", 1)
	src = strings.Replace(src, "of: clean\n", "of: clean\n    memory: 2GiB\n", 1)
	j := stagedJob(t, src)
	for _, c := range []struct {
		task   uint64
		memory int64
		work   time.Duration
	}{{0, 1 << 30, 10 * time.Second}, {6, 64 << 20, 2 * time.Second}, {11, 64 << 20, 2 * time.Second},
		{12, 2 << 30, 10 * time.Second}, {14, 1 << 30, 10 * time.Second}} {
		of, _ := j.At(c.task)
		if m, w := j.MemoryOf(c.task), j.WorkOf(c.task); m != c.memory || w != c.work || of.Memory != m || of.Work != w {
			t.Errorf("%s may have %d bytes and takes %v, its stage says %d and %v", j.TaskName(c.task), m, w, of.Memory, of.Work)
		}
	}
	if least, most := j.Memories(); least != 64<<20 || most != 2<<30 {
		t.Errorf("the tasks may have %d to %d bytes", least, most)
	}
	// 6 of 10 s, 6 of 2 s, 3 of 10 s.
	if got, want := j.MeanWork(), 102*time.Second/15; got != want {
		t.Errorf("a task takes %v in the mean, want %v", got, want)
	}
	j.Work = 0
	if got := j.MeanWork(); got != 2*time.Second {
		t.Errorf("where one stage alone says so, a task takes %v", got)
	}
	one := &Job{Memory: 5, Work: time.Minute}
	if least, most := one.Memories(); one.MemoryOf(3) != 5 || least != 5 || most != 5 || one.WorkOf(3) != time.Minute ||
		one.MeanWork() != time.Minute {
		t.Error("a job without stages has others than its own")
	}
}

// The bounds of a job hold for what a stage says, in the file and in the record.
func TestBadBoundsOfStages(t *testing.T) {
	for with, want := range map[string]string{
		"memory: 8GiB":    "job.yaml:25:13: memory of 8GiB is not between",
		"memory: 0":       "job.yaml:25:13: memory of 0B is not between",
		"memory: lots":    `job.yaml:25:13: memory: "lots" is not a size`,
		"work: 99999999h": "job.yaml:25:11: work",
		"work: -1s":       "job.yaml:25:11: work of -1s is not between",
		"replicas: 2":     "replicas",
	} {
		src := strings.Replace(pipeline, "each: simulate\n", "each: simulate\n    "+with+"\n", 1)
		_, err := ParseFile("job.yaml", []byte(src))
		e, is := err.(*Error)
		if !is || !strings.Contains(e.Error(), want) || e.Hint == "" {
			t.Errorf("%s: got %v, want %q", with, err, want)
		}
	}
	for _, change := range []func(*Stage){
		func(s *Stage) { s.Memory = MinMemory - 1 },
		func(s *Stage) { s.Memory = -1 },
		func(s *Stage) { s.Memory = MaxMemory + 1 },
		func(s *Stage) { s.Work = -1 },
		func(s *Stage) { s.Work = MaxDuration + 1 },
	} {
		j := stagedJob(t, pipeline)
		if change(&j.Stages[1]); j.Validate() == nil {
			t.Errorf("a record with memory %d and work %v of a stage is taken", j.Stages[1].Memory, j.Stages[1].Work)
		}
	}
}
