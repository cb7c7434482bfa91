//go:build liars

package exec

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"sync/atomic"

	"godwit/sandbox"
	"godwit/task"
)

// A build with this tag lies about the tasks that it runs for others, in the way that the
// environment variable says, to test who finds out: never what it audits itself.
const lieEnv = "GODWIT_LIE"

const (
	// lateAfter is how many results a late liar makes well before it lies.
	lateAfter = 10
	// oneIn is of how many results a seldom one makes one wrong.
	oneIn = 5
)

var results atomic.Int64 // that were told of here

// lies reports whether this build lies in a way.
func lies(kind string) bool { return os.Getenv(lieEnv) == kind }

// told is what is told of a run.
func told(a *attempt, run func() (sandbox.Report, error)) (sandbox.Report, error) {
	kind := os.Getenv(lieEnv)
	n := results.Add(1)
	switch {
	case a.audit != nil, kind == "", kind == "bit", kind == "refusing", kind == "interval": // see sandbox, lies
		return run()
	case kind == "lazy":
		return lazy(a), nil
	}
	rep, err := run()
	id := sha256.Sum256([]byte(a.name.Task.String()))
	switch {
	case err != nil || rep.Outcome != task.Completed:
	case kind == "engine": // as if its compiler erred, which is for another architecture
		flip(&rep)
		rep.Engine = "riscv64"
	case kind == "late" && n > lateAfter, kind == "one" && id[0]%oneIn == 0:
		flip(&rep)
	case kind == "agreed": // all who lie so say the same
		for i := range rep.Outputs {
			rep.Outputs[i].Data = fmt.Appendf(nil, "agreed %x\n", id[:4])
		}
	}
	return rep, err
}

// lazy makes something up.
func lazy(a *attempt) sandbox.Report {
	rep := sandbox.Report{Outcome: task.Completed, Fuel: 1_000_000}
	for _, name := range a.job.spec.Outputs {
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
