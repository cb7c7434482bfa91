package local

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"godwit/internal/noop"
	"godwit/sandbox"
)

// The guest that never ends is a program that a node takes.
func TestEndless(t *testing.T) {
	if _, err := sandbox.Inspect(endless); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(endless[:len(noop.Module)], noop.Module) || len(noop.Module) != len(endless)-5 {
		t.Error("the two modules share their code")
	}
}

// This process runs, and has used some of the processor.
func TestProcessStat(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	if Burn(1_000_000) == 0 {
		t.Error("no work")
	}
	self := []int{os.Getpid()}
	if len(cpuOf(self)) != 1 {
		t.Error("what this process used is not known")
	}
	if f := processStat(os.Getpid()); len(f) <= statSystem || f[statState] == "T" {
		t.Errorf("this process: %q", f)
	}
	if len(cpuOf([]int{-1})) != 0 {
		t.Error("a process that is not there used something")
	}
	if took := standstill(t.Context(), []int{-1}, time.Now()); took < 0 {
		t.Error("a process that is gone is waited for")
	}
}

func TestLocalReport(t *testing.T) {
	rep := &report{Nodes: 2, Slots: 2, Rounds: 3, WorkS: 2, Stops: spreadOf([]float64{0.004, 0.006})}
	rep.Ways = []wayReport{{Way: wayNames[0], MakespanS: spreadOf([]float64{2, 3}), Guests: -1},
		{Way: wayNames[1], MakespanS: spreadOf([]float64{3}), AddedS: 0.5, Polls: 0.05, Guests: 0.25}}
	var out bytes.Buffer
	if err := rep.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2.500", "2.000-3.000", "+0.500", "+0.050", "0.25",
		"5.0 ms in the mean, 6.0 ms at most", "7.8 to 29.2 s added, 0.8 to 2.9 polls"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
