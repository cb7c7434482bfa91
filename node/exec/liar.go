//go:build liars

package exec

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"godwit/sandbox"
	"godwit/task"
)

// A build with this tag lies about the tasks that it runs for others, in the way that the
// environment variable says, to test who finds out: never what it audits itself. It counts its lies
// in the file that the other names, if any, a line for each.
const lieEnv, liedEnv = "GODWIT_LIE", "GODWIT_LIED"

const (
	// lateAfter is how many results a late liar makes well before it lies.
	lateAfter = 10
	// oneIn is of how many results a seldom one makes one wrong.
	oneIn = 5
)

var results atomic.Int64 // that were told of here

// Lies reports whether this build lies in a way.
func Lies(kind string) bool { return os.Getenv(lieEnv) == kind }

// lies is Lies of what is counted as a lie.
func lies(kind string) bool {
	if Lies(kind) {
		NoteLie(kind)
		return true
	}
	return false
}

// NoteLie counts a lie.
func NoteLie(what string) {
	name := os.Getenv(liedEnv)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, what)
}

// told is what is told of a run.
func told(a *attempt, run func() (sandbox.Report, error)) (sandbox.Report, error) {
	kind := os.Getenv(lieEnv)
	n := results.Add(1)
	if a.audit == nil && kind == "lazy" {
		NoteLie(kind)
		return lazy(a), nil
	}
	rep, err := run()
	if a.audit != nil || err != nil || rep.Outcome != task.Completed {
		return rep, err
	}
	id := sha256.Sum256([]byte(a.name.Task.String()))
	switch {
	case kind == "engine": // as if its compiler erred, which is for another architecture
		flip(&rep)
		rep.Engine = otherEngine()
	case kind == "trailless":
		rep.Fuel = 0
	case kind == "nowhere":
		flip(&rep)
		rep.Engine = "abacus"
	case kind == "late" && n > lateAfter, kind == "one" && id[0]%oneIn == 0,
		kind == "auditor" && seen.compares(a.name.Task):
		flip(&rep)
	case kind == "agreed": // all who lie so say the same
		for i := range rep.Outputs {
			rep.Outputs[i].Data = fmt.Appendf(nil, "agreed %x\n", id[:4])
		}
	default: // of the others see sandbox, and lies
		return rep, err
	}
	NoteLie(kind)
	return rep, err
}

// seen are the tasks that an auditor that lies had.
var seen = guesses{most: map[task.JobID]uint64{}}

type guesses struct {
	mu   sync.Mutex
	most map[task.JobID]uint64 // the greatest number, by job
}

// compares guesses whether a task was run by another before: leaders give tasks in their order, and this one
// comes late.
func (g *guesses) compares(id task.TaskID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.most[id.Job] = max(g.most[id.Job], id.Index)
	return id.Index < g.most[id.Job]
}

// otherEngine is a compiler that this machine has not.
func otherEngine() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

// lazy makes something up.
func lazy(a *attempt) sandbox.Report {
	rep := sandbox.Report{Outcome: task.Completed, Fuel: 1_000_000}
	for _, name := range a.job.spec.OutputsOf(a.name.Task.Index) {
		rep.Outputs = append(rep.Outputs, sandbox.File{Name: name, Data: []byte("42\n")})
	}
	return rep
}

// flip changes a bit of what was printed.
func flip(rep *sandbox.Report) {
	for i := range rep.Outputs {
		if data := bytes.Clone(rep.Outputs[i].Data); len(data) > 0 {
			data[0] ^= 1
			rep.Outputs[i].Data = data
		}
	}
}
