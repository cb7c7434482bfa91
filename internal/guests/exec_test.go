package guests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/task"
)

// viaHops is how often a program moves under an emulator, which is slow.
const viaHops = 4

// executed is what `godwit exec --json` prints.
type executed struct {
	ExitCode     uint32            `json:"exit_code"`
	Outcome      string            `json:"outcome"`
	Fuel         uint64            `json:"fuel"`
	StateHash    string            `json:"state_hash"`
	StdoutDigest string            `json:"stdout_digest"`
	Files        map[string]string `json:"files"`
	Hops         int               `json:"hops"`
	CPUS         float64           `json:"cpu_s"`
}

// end is the part that hops must not change. A map prints in order.
func (e executed) end() string {
	return fmt.Sprintf("%s, exit code %d, fuel %d, state %.16s, stdout %s, files %v", e.Outcome, e.ExitCode, e.Fuel,
		e.StateHash, e.StdoutDigest, e.Files)
}

// TestExecHops: the C programs end the same through the command that people
// use, moved at random times of a clock instead of at chosen points.
func TestExecHops(t *testing.T) {
	if os.Getenv("GODWIT_GUESTS_EXEC") == "" {
		t.Skip("GODWIT_GUESTS_EXEC=1 runs it; see scripts/test-guests")
	}
	x := &executor{godwit: buildGodwit(t, runtime.GOARCH)}
	for _, c := range cPrograms {
		if chosen(c.name, c.name == cSample) {
			t.Run(c.name, func(t *testing.T) { x.hop(t, c.name, c.name, c.flags, c.memory, wantHops) })
		}
	}
}

// TestExecVia: one of them goes from this machine's compiler to another
// architecture's and to the interpreter, and round again.
func TestExecVia(t *testing.T) {
	if os.Getenv("GODWIT_GUESTS_ARCH") == "" {
		t.Skip("GODWIT_GUESTS_ARCH=1 runs it; see scripts/test-arch")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("it begins on linux/amd64")
	}
	path, err := exec.LookPath(emulator)
	if err != nil {
		t.Skipf("there is no %s: on Debian, install qemu-user-static", emulator)
	}
	arm, x86 := buildGodwit(t, "arm64"), buildGodwit(t, "386")
	emulated, interpreted := path+" ./"+filepath.Base(arm), "./"+filepath.Base(x86)
	for _, via := range []struct {
		name string
		args []string
	}{
		{"exec-arm64", []string{"--via", emulated}},
		{"exec-386", []string{"--via", interpreted}},
		{"exec-both", []string{"--via", emulated, "--via", interpreted}},
	} {
		t.Run(via.name, func(t *testing.T) {
			if via.name != "exec-arm64" && !runs386() {
				t.Skip(no386)
			}
			x := &executor{godwit: buildGodwit(t, runtime.GOARCH), dir: filepath.Dir(arm), via: via.args}
			x.hop(t, via.name, cSample, nil, 0, viaHops)
		})
	}
}

func buildGodwit(t *testing.T, arch string) string {
	t.Helper()
	dir, err := buildDir()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "godwit-"+arch)
	if _, err := os.Stat(out); err == nil {
		return out
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", out, "godwit/cmd/godwit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building godwit for %s: %v: %s", arch, err, msg)
	}
	return out
}

// An executor runs modules with `godwit exec`.
type executor struct {
	godwit string
	dir    string   // where it runs; empty for here
	via    []string // arguments of every run that moves
}

func (x *executor) run(t *testing.T, module, memory string, args ...string) executed {
	t.Helper()
	all := append([]string{"exec", "--json", "--memory", memory}, args...)
	cmd := exec.CommandContext(t.Context(), x.godwit, append(all, module)...)
	cmd.Dir = x.dir
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args[1:], err, words.String())
	}
	var e executed
	if err := json.Unmarshal(out, &e); err != nil {
		t.Fatalf("%v printed %q: %v", cmd.Args[1:], out, err)
	}
	return e
}

// mostTries is how often the time between hops is halved for a program that
// ended before it made all of them.
const mostTries = 8

// hop compares a run that moves so often with one that does not.
func (x *executor) hop(t *testing.T, name, program string, flags []string, memory int64, hops int) {
	module := buildC(t, program, flags)
	size := task.FormatSize(max(memory, 256<<20))
	x.run(t, module, size) // compiles
	want := x.run(t, module, size)
	if want.Outcome != task.Completed.String() || want.StateHash == "" {
		t.Fatalf("undisturbed: %s", want.end())
	}
	// Half of what the program takes, so that most draws fit in.
	every := time.Duration(want.CPUS / float64(2*hops) * float64(time.Second))
	seed := os.Getenv("GODWIT_GUESTS_SEED")
	if seed == "" {
		seed = "1"
	}
	var got executed
	tries := 0
	for got.Hops < hops && tries < mostTries {
		got = x.run(t, module, size, append(x.via, "--hops", strconv.Itoa(hops), "--hop-seed", seed, "--hop-every",
			every.String())...)
		if got.end() != want.end() {
			t.Errorf("after %d hops: %s\nundisturbed: %s", got.Hops, got.end(), want.end())
			break
		}
		every /= 2
		tries++
	}
	if got.Hops != hops && !t.Failed() {
		t.Errorf("it ended after %d hops, want %d", got.Hops, hops)
	}
	verdict := "PASS"
	if t.Failed() {
		verdict = "FAIL"
	}
	fmt.Fprintf(t.Output(), "guest %-12s %s  exec --hops: %d  tries %d  fuel %12d  cpu %6.2fs, hopping %6.2fs  state "+
		"%.16s  files %d\n",
		name, verdict, got.Hops, tries, want.Fuel, want.CPUS, got.CPUS, got.StateHash, len(got.Files))
}
