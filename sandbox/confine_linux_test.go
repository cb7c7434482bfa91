package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"godwit/task"
)

// A table that grows takes memory of the host, past the limit on linear
// memory: the limit of the process catches it.
func TestGrowingTable(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector needs more memory than the limit")
	}
	// ref.null; 1 Mi; table.grow 0; drop
	growTable := []byte{0xd0, 0x70, 0x41, 0x80, 0x80, 0xc0, 0x00, 0xfc, 0x0f, 0x00, 0x1a}
	p := newTestPool(t, func(c *Config) { c.HostBytes = 400 << 20 })
	rep := run(t, p, func() Task {
		tk := guest{table: 1, code: loop(growTable)}.task(t, "a")
		tk.Limits = Limits{Memory: 1 << 20, Files: 1 << 20, Output: 1 << 20}
		return tk
	}())
	if rep.Outcome != task.OutOfMemory {
		t.Errorf("got %v %q, want out of memory", rep.Outcome, rep.Message)
	}
}

// The lowest priority, unless the pool's owner wants none, and everything else in any case.
func TestChildIsConfined(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		childIsConfined(t, keeps)
	}
}

// A process that waits for its next task is not used again once the owner wants another priority.
func TestPriorityAppliesFromTheNextTask(t *testing.T) {
	keeps := true
	p := newTestPool(t, func(c *Config) { c.KeepPriority = func() bool { return keeps } })
	started := map[bool]int{}
	for _, keeps = range []bool{true, true, false} {
		run(t, p, noop.task(t, "a"))
		p.mu.Lock()
		clear(started)
		for c := range p.children {
			started[c.keeps]++
		}
		p.mu.Unlock()
	}
	if started[true] != 1 || started[false] != 1 {
		t.Errorf("%v processes by whether they keep the priority, want one of each", started)
	}
}

func childIsConfined(t *testing.T, keeps bool) {
	p := newTestPool(t, func(c *Config) { c.KeepPriority = func() bool { return keeps } })
	nice, policy, environ := "19", "5", ""
	if keeps {
		own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		if err != nil {
			t.Fatal(err)
		}
		const highest = 20 // what the system call returns for nice 0
		nice, policy, environ = strconv.Itoa(highest-own), "0", plainPriority+"\x00"
	}
	run(t, p, noop.task(t, "a"))
	pid := onlyChild(t, p).cmd.Process.Pid
	read := func(name string) string {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := strings.TrimSpace(read("oom_score_adj")); got != "1000" {
		t.Errorf("oom_score_adj is %s", got)
	}
	// Others of the same user may not look into it; root may.
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); os.Getuid() != 0 && !os.IsPermission(err) ||
		os.Getuid() == 0 && (err != nil || string(b) != environ) {
		t.Errorf("environment %q, %v", b, err)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("threads %v, %v", tasks, err)
	}
	for _, task := range tasks {
		name := "task/" + filepath.Base(task)
		if status := read(name + "/status"); !strings.Contains(status, "NoNewPrivs:\t1") {
			t.Errorf("%s may get new privileges", name)
		}
		stat := read(name + "/stat")
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+2:])
		// Fields 19 (nice) and 41 (policy) of proc(5), counted from field 3.
		if fields[16] != nice || fields[38] != policy {
			t.Errorf("%s has nice %s and policy %s, want %s and %s", name, fields[16], fields[38], nice, policy)
		}
	}
}

// middleVerb makes the test binary a parent that starts one child and tells
// its process ID.
const middleVerb = "sandbox-middle"

func middle() {
	self, err := os.Executable()
	if err != nil {
		os.Exit(1)
	}
	p := NewPool(Config{Command: []string{self, childVerb}})
	if _, err := p.take("m", &Tenant{}, 0); err != nil {
		os.Exit(1)
	}
	c, err := p.start("m")
	if err != nil {
		os.Exit(1)
	}
	p.Pause() // a stopped child must die too
	fmt.Println(c.cmd.Process.Pid)
	select {}
}

func TestChildDiesWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, middleVerb)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for t.Context().Err() == nil {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Error("the child outlived its parent")
}
