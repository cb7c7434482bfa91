//go:build unix

package guests

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"godwit/sandbox"
	"godwit/task"
)

// corpusParts are what a row is put through; GODWIT_CORPUS_PARTS chooses some.
var corpusParts = []string{"torture", "hops", "arch", "overhead"}

// sampleParts are those of the rows that the ordinary tests run.
var sampleParts = []string{"torture", "hops"}

// sample are quick programs built by what is installed, one with and one
// without wasm-opt.
func sampleEntries() []entry {
	var all []entry
	for _, name := range []string{cSample, "states"} {
		for _, level := range []string{"", "-O2"} {
			all = append(all, smallEntry(name, nil, 0, toolchain{level: "-O2", optimise: level, installed: true}))
		}
	}
	return all
}

// sampleTorture keeps the sample quick.
const sampleTorture = 300

// TestCorpusSample: a few programs end the same however often they are frozen,
// whether an optimiser went over them or not.
func TestCorpusSample(t *testing.T) {
	if os.Getenv("GODWIT_CORPUS") != "" {
		t.Skip("GODWIT_CORPUS asks for the whole of it")
	}
	l := &larder{t.TempDir()}
	for _, e := range sampleEntries() {
		t.Run(e.name(), func(t *testing.T) {
			e.most = sampleTorture
			r := judge(t, l, &e, sampleParts)
			if r.absent != "" {
				t.Skip(r.absent)
			}
		})
	}
}

// TestCorpus: programs that others wrote, by the toolchains that they are built
// with, end the same however they are moved. GODWIT_CORPUS=all runs it, or a
// list of programs, toolchains or rows.
func TestCorpus(t *testing.T) {
	if os.Getenv("GODWIT_CORPUS") == "" {
		t.Skip("GODWIT_CORPUS=all runs it; see scripts/test-guests")
	}
	l, err := openLarder()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := chosenEntries()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := chosenParts()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(t.Output(), "row", rowHead)
	var rows []result
	for _, e := range entries {
		t.Run(e.name(), func(t *testing.T) {
			r := result{entry: &e}
			t.Cleanup(func() {
				r.failed = t.Failed()
				rows = append(rows, r)
				fmt.Fprintln(t.Output(), r.line())
			})
			r = judge(t, l, &e, parts)
		})
	}
	for _, line := range sums(rows) {
		fmt.Fprintln(t.Output(), line)
	}
}

// chosenEntries are the rows that GODWIT_CORPUS names, or all.
func chosenEntries() ([]entry, error) {
	names := os.Getenv("GODWIT_CORPUS")
	if names == "" || names == "all" {
		return corpus(), nil
	}
	return find(strings.Split(names, ","))
}

// chosenParts are those that GODWIT_CORPUS_PARTS names, or all.
func chosenParts() ([]string, error) {
	names := os.Getenv("GODWIT_CORPUS_PARTS")
	if names == "" {
		return corpusParts, nil
	}
	parts := strings.Split(names, ",")
	for _, p := range parts {
		if !slices.Contains(corpusParts, p) {
			return nil, fmt.Errorf("GODWIT_CORPUS_PARTS names %q, which is none of %s", p, strings.Join(corpusParts, " "))
		}
	}
	return parts, nil
}

// judge puts one row through the parts.
func judge(t *testing.T, l *larder, e *entry, parts []string) result {
	r := result{entry: e}
	if err := r.make(t, l); errors.Is(err, errAbsent) {
		r.absent = err.Error()
		return r
	} else if err != nil {
		t.Fatal(err)
	}
	if e.refused != "" {
		r.refuse(t)
		return r
	}
	for _, p := range parts {
		map[string]func(*testing.T){"torture": r.torture, "hops": r.hop, "arch": r.cross, "overhead": r.weigh}[p](t)
	}
	return r
}

// make fetches and builds what the row runs. The error wraps errAbsent where
// that cannot be had.
func (r *result) make(t testing.TB, l *larder) error {
	e := r.entry
	if e.absent != "" {
		return fmt.Errorf("%w: %s", errAbsent, e.absent)
	}
	m, err := e.build(l)
	if err != nil {
		return err
	}
	if e.inputs != nil {
		if r.inputs, err = e.inputs(l); err != nil {
			return err
		}
	}
	r.tools, r.native = m.tools, m.native
	r.task = newTask(t, e.name(), m.module)
	r.task.Env, r.task.Files, r.task.Limits.Memory = e.env, r.inputs, e.memory
	info, err := os.Stat(m.module)
	if err != nil {
		return err
	}
	r.bytes = info.Size()
	return nil
}

// refuse checks that a module that cannot run is told so, and why.
func (r *result) refuse(t *testing.T) {
	t.Helper()
	rep := run(t, hostPool(t), r.task)
	if rep.Outcome != task.InvalidModule || !strings.Contains(rep.Message, r.entry.refused) {
		t.Errorf("%v: %q, want a refusal that names %q", rep.Outcome, rep.Message, r.entry.refused)
	}
	r.refusal = rep.Message
}

// job is the row's task for a process that runs it without the sandbox.
func (r *result) job(args []string) guestJob {
	return guestJob{Name: r.task.Name, Module: r.task.ModulePath, Args: args, Env: r.entry.env, Files: r.inputs,
		Memory: r.entry.memory}
}

// alone runs the row undisturbed, and compares what it said with what it says
// on plain wazero.
func (r *result) alone(t *testing.T, pool *sandbox.Pool, args []string) sandbox.Report {
	t.Helper()
	tk := r.task
	tk.Args = args
	want := undisturbed(t, pool, tk)
	if r.entry.unlike != "" {
		return want
	}
	if r.plain == nil {
		r.plain = map[string]plainEnd{}
	}
	key := strings.Join(args, "\x00")
	plain, ok := r.plain[key]
	if !ok {
		plain = plainly(t, r.job(args))()
		r.plain[key] = plain
	}
	if plain.Failed != "" {
		t.Errorf("on plain wazero: %s", plain.Failed)
	}
	if got := said(want); !maps.Equal(got, plain.Outputs) {
		t.Errorf("it said %v, on plain wazero %v", got, plain.Outputs)
	}
	return want
}

// said gives the digests of what a report has, but for standard error.
func said(rep sandbox.Report) map[string]string {
	found := map[string]string{task.Stdout: digest(nil)}
	for _, f := range rep.Outputs {
		if f.Name != task.Stderr {
			found[f.Name] = digest(f.Data)
		}
	}
	return found
}

// torture unwinds the guest at every poll and at every third, and thaws it in
// place in the sandbox's own process.
func (r *result) torture(t *testing.T) {
	want := r.alone(t, hostPool(t), r.entry.quick)
	most := r.entry.most
	if most == 0 {
		most = usualTorture
	}
	cache := t.TempDir()
	for _, every := range []int{0, 1, 3} {
		end := machine(t, machineJob{guestJob: r.job(r.entry.quick), Every: every, Most: most, Cache: cache})
		if end.Failed != "" || end.Refused != "" {
			t.Errorf("unwound at each %d polls: %s%s", every, end.Failed, end.Refused)
			continue
		}
		if end.Fuel != want.Fuel || end.State != hex.EncodeToString(want.StateHash[:]) {
			t.Errorf("unwound %d times, at each %d polls: fuel %d, state %.16s; want fuel %d, state %x", end.Unwinds, every,
				end.Fuel, end.State, want.Fuel, want.StateHash[:8])
		}
		delete(end.Outputs, task.Stderr)
		if !maps.Equal(end.Outputs, said(want)) {
			t.Errorf("unwound %d times, at each %d polls: it said %v, want %v", end.Unwinds, every, end.Outputs, said(want))
		}
		switch every {
		case 0:
			r.size, r.prepare = end.Size, end.Prepare
		case 1:
			r.tortured, r.bounded = end.Unwinds, end.Unwinds >= most
			if end.Unwinds == 0 {
				t.Error("it was never unwound")
			}
		}
	}
	tk := r.task
	tk.Args, tk.Pages = r.entry.quick, &sandbox.MemoryStore{}
	tk.ThawEvery = max(want.Fuel/thaws, 1)
	same(t, run(t, hostPool(t), tk), want)
}

// thaws is how often a task is thawed in place.
const thaws = 25

// hop moves it into new processes.
func (r *result) hop(t *testing.T) {
	pool := hostPool(t)
	tk := r.task
	tk.Args = r.entry.moved()
	want := r.alone(t, pool, tk.Args)
	j := travel(t, []*sandbox.Pool{pool}, tk, points(tk.Name, want.Fuel))
	same(t, j.last, want)
	r.hops = j.hops
	if j.hops < wantHops && want.Fuel > wantHops*fewPolls {
		t.Errorf("%d hops, want at least %d", j.hops, wantHops)
	}
}

// fewPolls is the fuel for each hop below which a program may have fewer polls than hops.
const fewPolls = 1000

// slowHops is how often a slow program moves where one of the machines is emulated.
const slowHops = 4

// cross moves it between architectures.
func (r *result) cross(t *testing.T) {
	if r.entry.stays {
		return
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		r.archs = "none: not linux/amd64"
		return
	}
	pools := route(t)
	tk := r.task
	tk.Args = r.entry.quick
	want := r.alone(t, pools[0], tk.Args)
	n := wantHops + spareHops
	if r.entry.slow {
		n = slowHops
	}
	j := travel(t, pools, tk, spread("arch/"+tk.Name, want.Fuel, n))
	same(t, j.last, want)
	r.archs = fmt.Sprintf("amd64 arm64 386: %d", j.hops)
	if len(pools) == 2 {
		r.archs = fmt.Sprintf("amd64 arm64: %d", j.hops)
	}
}
