package owner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Cage is a control group that holds the tasks' processes to the caps on
// cores and memory. Where the system delegates none to this process the Cage
// is open: it holds nothing, and Text says why. The caps then rest on how many
// tasks run, on their lowest priority and on the pool's throttle.
type Cage struct {
	group string // of this process when it began; "" for an open cage
	why   string // it is open
	pids  bool   // threads are limited too
}

// The groups made below our own: the kernel allows limits only in groups beside
// which no process runs.
const (
	nodeGroup = "godwit-node"
	taskGroup = "godwit-tasks"
)

// cagedText begins what Text says of a cage that holds.
const cagedText = "held by the kernel"

// Threads that tasks may have: a sandbox has some ten, and those that wait for tasks count as well.
const (
	threadsACore = 64
	threadsMore  = 256
)

// cpuPeriod is the period of cpu.max in microseconds, the kernel's default.
const cpuPeriod = 100_000

// NewCage makes the groups, moves this process into one of them and leaves the
// other to tasks. It never fails: see Text.
func NewCage() *Cage {
	c := planCage()
	if c.group == "" {
		return c
	}
	if err := c.build(os.Getpid()); err != nil {
		c.undo(os.Getpid())
		return &Cage{why: err.Error()}
	}
	return c
}

// Text says how the caps are held.
func (c *Cage) Text() string { return c.text() }

func (c *Cage) text() string {
	if c.group != "" {
		return cagedText + ", in the control group " + filepath.Join(c.group, taskGroup)
	}
	return "held by lowest priorities and the node's own throttle, for " + c.why
}

// Holds says whether the kernel holds the caps.
func (c *Cage) Holds() bool { return c.group != "" }

// Add puts a process into the cage.
func (c *Cage) Add(pid int) error {
	if c.group == "" {
		return nil
	}
	return c.write(taskGroup, "cgroup.procs", strconv.Itoa(pid))
}

// Limit sets the caps: cores, at least 1, and bytes of memory, 0 for no limit. The number of
// threads follows the cores, where the system delegates that.
func (c *Cage) Limit(cores int, memory int64) error {
	if c.group == "" {
		return nil
	}
	most := "max"
	if memory > 0 {
		most = strconv.FormatInt(memory, 10)
	}
	cores = max(cores, 1)
	err := errors.Join(
		c.write(taskGroup, "cpu.max", fmt.Sprintf("%d %d", cores*cpuPeriod, cpuPeriod)),
		c.write(taskGroup, "memory.max", most))
	if c.pids {
		err = errors.Join(err, c.write(taskGroup, "pids.max", strconv.Itoa(cores*threadsACore+threadsMore)))
	}
	return err
}

// Close takes this process back to where it was. The tasks must have ended.
func (c *Cage) Close() error {
	if c.group == "" {
		return nil
	}
	c.undo(os.Getpid())
	return nil
}

// planGroup judges a group that this process is in: whether limits can be set
// below it.
func planGroup(dir string, pid int) *Cage {
	read := func(name string) (string, error) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(b)), err
	}
	controllers, err := read("cgroup.controllers")
	have := strings.Fields(controllers)
	switch {
	case err != nil:
		return &Cage{why: "this process's control group cannot be read"}
	case !slices.Contains(have, "cpu") || !slices.Contains(have, "memory"):
		return &Cage{why: "its control group has not the controllers cpu and memory"}
	}
	if _, err := read("cgroup.type"); err != nil {
		return &Cage{why: "this process is in the root control group, which is the whole machine's"}
	}
	procs, err := read("cgroup.procs")
	if err != nil || procs != strconv.Itoa(pid) {
		return &Cage{why: "its control group holds other programs too"}
	}
	for _, name := range []string{"cgroup.procs", "cgroup.subtree_control"} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
		if err != nil {
			return &Cage{why: "its control group is not delegated to this user"}
		}
		f.Close()
	}
	return &Cage{group: dir, pids: slices.Contains(have, "pids")}
}

func (c *Cage) build(pid int) error {
	for _, g := range []string{nodeGroup, taskGroup} {
		if err := os.Mkdir(filepath.Join(c.group, g), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("a control group cannot be made: %w", err)
		}
	}
	if err := c.write(nodeGroup, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		return err
	}
	return c.write("", "cgroup.subtree_control", c.controllers("+"))
}

// controllers lists those that the Cage limits by, each after a sign.
func (c *Cage) controllers(sign string) string {
	list := sign + "cpu " + sign + "memory"
	if c.pids {
		list += " " + sign + "pids"
	}
	return list
}

func (c *Cage) undo(pid int) {
	_ = c.write("", "cgroup.subtree_control", c.controllers("-"))
	_ = c.write("", "cgroup.procs", strconv.Itoa(pid))
	for _, g := range []string{nodeGroup, taskGroup} {
		_ = os.Remove(filepath.Join(c.group, g))
	}
}

func (c *Cage) write(group, file, text string) error {
	if err := os.WriteFile(filepath.Join(c.group, group, file), []byte(text), 0o644); err != nil {
		return fmt.Errorf("a control group refuses: %w", err)
	}
	return nil
}
