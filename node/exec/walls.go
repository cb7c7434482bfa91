package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"godwit/owner"
	"godwit/sandbox"
)

// Walls says what keeps the tasks of a pool in, if WebAssembly does not, and whether they come to what they
// are to: it starts a process and asks it, and runs a task.
// Both have a time limit, so Walls returns within half a minute even if the processes make no progress.
func Walls(ctx context.Context, p *sandbox.Pool) []owner.Finding {
	return owner.In(owner.AreaSandbox, append(walls(ctx, p), selfTest(ctx, p))...)
}

// selfTest says whether this machine comes to what every machine does.
func selfTest(ctx context.Context, p *sandbox.Pool) owner.Finding {
	f := owner.Finding{Check: "sandbox self-test", Result: owner.OK,
		Text: "a known program comes to what it comes to everywhere"}
	switch err := p.SelfTest(ctx); {
	case err == nil:
	case errors.Is(err, sandbox.ErrUntested):
		f.Result, f.Text, f.Fix = owner.Blind, "not run: tasks are suspended, or the machine is too busy",
			"run the check again when tasks may run"
	case errors.Is(err, sandbox.ErrWrong):
		f.Result, f.Text = owner.Bad, err.Error()
		f.Fix = "test this machine's memory and its cooling; what it computes for others would be wrong too"
	default:
		f.Result, f.Text = owner.Bad, err.Error()
		f.Fix = "see whether this program can start itself: no task can run"
	}
	return f
}

func walls(ctx context.Context, p *sandbox.Pool) []owner.Finding {
	if runtime.GOOS != "linux" {
		return []owner.Finding{{Check: "second wall", Result: owner.Blind,
			Text: "none on this system: tasks are kept in by WebAssembly alone",
			Fix:  "`godwit config set sandbox strict` where that is not enough: tasks are then never compiled"}}
	}
	s, err := p.Wall(ctx)
	if errors.Is(err, sandbox.ErrUntested) {
		return []owner.Finding{{Check: "second wall", Result: owner.Blind, Text: "not checked: a sandbox process did not answer in time",
			Fix: "run the check again when the machine is less busy"}}
	}
	if err != nil {
		return []owner.Finding{{Check: "second wall", Result: owner.Bad, Text: err.Error(),
			Fix: "see whether this program can start itself: no task can run"}}
	}
	return []owner.Finding{
		layer("second wall: system calls", s.Filter, s.Why[0],
			"a task's process can open no file or socket, start nothing and signal nobody",
			"use a kernel with seccomp, and a container that lets programs set filters; till then "+
				"`godwit config set sandbox strict`", owner.Bad),
		layer("second wall: files", s.Landlock > 0, s.Why[1],
			fmt.Sprintf("the kernel keeps all files from it too (Landlock %d)", s.Landlock),
			"nothing is open because of it; Landlock comes with Linux 5.13, and must be among the kernel's lsm=",
			owner.Blind),
		layer("second wall: namespaces", s.Own, s.Why[2],
			"it is nobody, and sees no process and no network",
			"nothing is open because of it; let users make namespaces (sysctl kernel.unprivileged_userns_clone=1, "+
				"kernel.apparmor_restrict_unprivileged_userns=0, or the container's settings)", owner.Blind),
	}
}

// layer is what was found of one layer. A layer that is lacking is worth what other says.
func layer(check string, holds bool, why, text, fix, lacking string) owner.Finding {
	if holds {
		return owner.Finding{Check: check, Result: owner.OK, Text: text}
	}
	return owner.Finding{Check: check, Result: lacking, Text: "does not hold: " + why, Fix: fix}
}
