package sensor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Processors reads /proc/stat for the share of the machine's CPU time that is
// used by others: all that is used, less what this process and the processes
// below it use.
type Processors struct {
	Proc string // root of procfs; "" for /proc
	PID  int    // the top of what is our own; 0 for this process
}

// ownProc is where the kernel tells of this process.
const ownProc = "/proc"

// loadEvery is how often load and memory pressure are read. The rules average
// over ten seconds, so ten samples.
const loadEvery = time.Second

// firstLoad is how long the first reading takes: use is the difference of two.
const firstLoad = loadEvery / 4

// Name returns "cpu".
func (Processors) Name() string { return "cpu" }

// Kinds returns Load.
func (Processors) Kinds() []Kind { return []Kind{Load} }

// Run watches until ctx ends.
func (p Processors) Run(ctx context.Context, report func(Reading)) {
	p.Proc = orRoot(p.Proc, ownProc)
	if p.PID == 0 {
		p.PID = os.Getpid()
	}
	watch(ctx, p, report, func(ctx context.Context) error {
		before, err := p.sample()
		if err != nil {
			return err
		}
		pause(ctx, firstLoad)
		return Poll(ctx, loadEvery, func() error {
			now, err := p.sample()
			if err != nil {
				return err
			}
			if now.all > before.all {
				report(Reading{Sensor: p.Name(), Kind: Load, At: time.Now(), Value: now.others(before), Detail: "/proc/stat"})
			}
			before = now
			return nil
		})
	})
}

// ticks are sums of CPU time since the start, in the kernel's ticks.
type ticks struct {
	all  int64 // idle time too
	busy int64
	own  int64
}

// others is the share of the time since before that others used. Processes are
// counted a moment after the machine, so a small difference is none.
func (t ticks) others(before ticks) float64 {
	used := float64(t.busy - before.busy - max(t.own-before.own, 0))
	return min(max(used/float64(t.all-before.all), 0), 1)
}

func (p Processors) sample() (t ticks, err error) {
	b, err := os.ReadFile(filepath.Join(p.Proc, "stat"))
	if err != nil {
		return t, fmt.Errorf("the CPU's use cannot be read: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(line)
	// cpu user nice system idle iowait irq softirq steal; guests are in user.
	const idle, iowait, steal = 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return t, fmt.Errorf("the CPU's use cannot be read: %q", line)
	}
	for i := 1; i < steal; i++ { // what the hypervisor stole was not there to use
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return t, fmt.Errorf("the CPU's use cannot be read: %w", err)
		}
		t.all += n
		if i != idle && i != iowait {
			t.busy += n
		}
	}
	t.own = p.tree(p.PID)
	return t, nil
}

// tree sums the time of a process and all below it, those that ended included:
// the kernel adds theirs to their parent's.
func (p Processors) tree(top int) (sum int64) {
	seen := map[int]bool{}
	for todo := []int{top}; len(todo) > 0; todo = todo[1:] {
		if pid := todo[0]; !seen[pid] {
			seen[pid] = true
			sum += p.process(pid)
			todo = append(todo, p.children(pid)...)
		}
	}
	return sum
}

// process returns utime + stime + cutime + cstime, 0 for one that is gone.
func (p Processors) process(pid int) (sum int64) {
	b, err := os.ReadFile(filepath.Join(p.Proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b[bytes.LastIndexByte(b, ')')+1:]), " ")
	fields := strings.Fields(rest) // from the third, the state, on
	const first, last = 14 - 3, 17 - 3
	if len(fields) <= last {
		return 0
	}
	for _, f := range fields[first : last+1] {
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += n
	}
	return sum
}

// childless reports whether this process has no children at all, which the kernel tells in one call.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return errors.Is(err, unix.ECHILD)
}

// children lists a process's children, by the thread that started them.
func (p Processors) children(pid int) (pids []int) {
	if pid == os.Getpid() && p.Proc == ownProc && childless() {
		return nil
	}
	lists, _ := filepath.Glob(filepath.Join(p.Proc, strconv.Itoa(pid), "task", "*", "children"))
	for _, name := range lists {
		b, _ := os.ReadFile(name)
		for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
			for f := range strings.FieldsSeq(s.Text()) {
				if n, err := strconv.Atoi(f); err == nil {
					pids = append(pids, n)
				}
			}
		}
	}
	slices.Sort(pids)
	return pids
}
