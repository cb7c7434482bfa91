package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/internal/pause"
	"godwit/scheduler/message"
	"godwit/task"
)

// walls are about what stands between a task and its host.
func walls() []attack {
	return []attack{
		{id: "S14", play: playWall, before: "behind the compiler there was no second wall: no filter of system calls, all " +
			"namespaces the node's, files and sockets of the node's user in reach"},
		{id: "S21", play: playCompile, plain: true, before: "a module of one function of 2.4 MB was not compiled after two " +
			"minutes and took 645 MiB"},
		{id: "S27", play: playInput, plain: true, disk: 4 << 30,
			before: "a node with --memory 512MiB ran a job of 64 MiB with " +
				"an input of 300 MB: it held 690 MB and its sandbox 875 MB"},
	}
}

// children returns the processes below one.
func children(pid int) (all []int) {
	parents := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		id, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if parent, err := strconv.Atoi(statusOf(id)["PPid"]); err == nil {
			parents[parent] = append(parents[parent], id)
		}
	}
	for next := parents[pid]; len(next) > 0; next = next[1:] {
		all, next = append(all, next[0]), append(next, parents[next[0]]...)
	}
	return all
}

// A sight is what a sandbox looks like from outside.
type sight struct {
	filtered, privileged bool
	shared               []string      // namespaces that are the node's, too
	open                 []string      // files and sockets
	peak                 int64         // bytes
	busy                 time.Duration // of the processor
}

func see(node, pid int) (s sight, ok bool) {
	status := statusOf(pid)
	if status == nil {
		return s, false
	}
	const filter = "2" // proc(5)
	s.filtered, s.privileged = status["Seccomp"] == filter, status["NoNewPrivs"] != "1"
	s.peak, s.busy = peakOf(pid), busyOf(pid)
	for _, ns := range []string{"net", "pid", "ipc", "uts", "mnt", "user"} {
		a, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", node, ns))
		if b, e := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, ns)); err == nil && e == nil && a == b {
			s.shared = append(s.shared, ns)
		}
	}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, l := range links {
		to, err := os.Readlink(l)
		if err == nil && (strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "/") && to != os.DevNull) {
			s.open = append(s.open, to)
		}
	}
	return s, true
}

// watch looks at the sandboxes of the nodes for a while.
func (f *field) watch(ctx context.Context, d time.Duration, found func(n Node, pid int, s sight)) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for _, n := range f.nodes {
			for _, pid := range children(n.PID()) {
				if s, ok := see(n.PID(), pid); ok {
					found(n, pid, s)
				}
			}
		}
		if err := pause.For(ctx, lookEvery/2); err != nil {
			return err
		}
	}
	return nil
}

func playWall(ctx context.Context, f *field, row *Row) error {
	p, err := f.hunt(ctx, openName, 8, "")
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	last := map[int]sight{} // as each was in the end: a child shuts its doors when it has begun
	looks := 0
	if err := f.watch(ctx, 6*time.Second, func(n Node, pid int, s sight) {
		looks++
		for i, path := range s.open {
			if rel, err := filepath.Rel(n.Dir(), path); err == nil && !strings.HasPrefix(rel, "..") {
				s.open[i] = "DATA/" + rel
			}
		}
		last[pid] = s
	}); err != nil {
		return err
	}
	row.tried(looks, "looks at the processes that ran an honest job's tasks")
	bare := 0
	for _, s := range last {
		row.now("a sandbox: system calls filtered %t, privileges %t, shares %v, holds open %.300q", s.filtered, s.privileged,
			s.shared, s.open)
		if !s.filtered || s.privileged {
			bare++
		}
		for _, path := range s.open {
			if strings.HasSuffix(path, "identity.key") || strings.HasSuffix(path, "api.token") {
				row.broke("a sandbox holds %s open", path)
			}
		}
	}
	if len(last) == 0 {
		row.broke("no sandbox was seen")
	}
	if bare > 0 {
		row.broke("%d of %d sandboxes have no filter of system calls", bare, len(last))
	}
	row.must("the job", p.settle(ctx, preyLimit))
	return nil
}

// Bounds of a sandbox whose job asks for little.
const (
	sandboxMost = 400 << 20 // bytes
	// compileMost is the processor time that a module of less than a MiB may take, and a tick.
	compileMost = 75 * time.Second
	// compileWatch is how long sandboxes are looked at: as long as two of compileMost that share
	// a processor.
	compileWatch = 2 * compileMost
)

func playCompile(ctx context.Context, f *field, row *Row) error {
	s, err := f.stranger(ctx, fellow)
	if err != nil {
		return err
	}
	p, err := f.leader(ctx, openName)
	if err != nil {
		return err
	}
	var bombs []task.JobID
	for _, module := range [][]byte{compileBomb(30_000), compileBomb(200_000), callBomb(1_000_000)} {
		rec, err := s.jobOf(s.key, 2, func(j *task.Job) { j.Module = s.content.bytes(module) })
		if err != nil {
			return err
		}
		bombs = append(bombs, rec.ID())
		if err := s.say(ctx, p.Leader, message.Message{Submit: &message.Submit{Record: rec}}); err != nil {
			return err
		}
	}
	row.tried(len(bombs), "modules of one function of 30,000 ifs, which is taken, of 200,000, and of 1,000,000 calls")
	return f.hunted(ctx, row, openName, 2, "", func(*prey) error { return f.watchCompiling(ctx, row, bombs) })
}

// watchCompiling looks at what modules cost that are dear to compile.
func (f *field) watchCompiling(ctx context.Context, row *Row, bombs []task.JobID) error {
	most, longest := int64(0), time.Duration(0)
	if err := f.watch(ctx, compileWatch, func(_ Node, _ int, s sight) {
		most, longest = max(most, s.peak), max(longest, s.busy)
	}); err != nil {
		return err
	}
	row.now("a sandbox took at most %d MiB, and %.0f s of processor time within %.0f s", most>>20, longest.Seconds(),
		compileWatch.Seconds())
	if most > sandboxMost {
		row.broke("a sandbox took %d MiB to compile, at most %d", most>>20, sandboxMost>>20)
	}
	if longest > compileMost {
		row.broke("a sandbox took %.0f s of processor time to compile, at most %.0f", longest.Seconds(),
			compileMost.Seconds())
	}
	for _, id := range bombs {
		var v jobView
		if err := f.victim().Get(ctx, "/v1/jobs/"+string(id), &v); err != nil {
			continue // it was refused
		}
		row.now("a job of it: %s, %d waiting, %d running, %d failed", v.State, v.Tasks.Waiting, v.Tasks.Running,
			v.Tasks.Failed)
	}
	return nil
}

func playInput(ctx context.Context, f *field, row *Row) error {
	const size = 300 << 20
	input, err := os.Create(filepath.Join(f.dir, "input.bin"))
	if err != nil {
		return err
	}
	for at := 0; at < size && err == nil; at += chunk {
		_, err = input.Write(noise(uint64(at)))
	}
	if err = errors.Join(err, input.Close()); err != nil {
		return err
	}
	most := int64(0)
	row.tried(1, "a job of 64 MiB with an input of 300 MiB")
	err = f.hunted(ctx, row, openName, 2, "files: [input.bin]\n", func(p *prey) error {
		for end := time.Now().Add(preyLimit); time.Now().Before(end); {
			if v, err := p.view(ctx); err == nil && v.Final {
				break
			}
			if err := f.watch(ctx, lookEvery, func(_ Node, _ int, s sight) { most = max(most, s.peak) }); err != nil {
				return err
			}
		}
		return nil
	})
	row.now("a sandbox took at most %d MiB", most>>20)
	if most > sandboxMost {
		row.broke("a sandbox took %d MiB for a job of 64 MiB, at most %d", most>>20, sandboxMost>>20)
	}
	return err
}
