//go:build unix

package guests

import (
	"fmt"
	"strings"
	"time"

	"godwit/sandbox"
)

// A result is what became of a row.
type result struct {
	entry  *entry
	tools  string // which exactly made the module
	native string // the same program for this machine; "" for none
	task   sandbox.Task
	inputs []sandbox.Input
	plain  map[string]plainEnd // by arguments

	absent  string // why it was not run
	refusal string // what it was refused with, as it should be
	failed  bool

	bytes    int64
	size     int           // of the instrumented module
	prepare  time.Duration // instrumenting and compiling it
	tortured int           // times it was unwound, at every poll
	bounded  bool          // there were more polls
	hops     int
	archs    string
	rate     float64 // fuel in a microsecond; 0 not measured
	overhead float64 // CPU time over that on plain wazero; 0 not measured
	seconds  time.Duration
}

// rowHead names the columns of the table.
const rowHead = "program/toolchain                            verdict    KiB  frozen KiB  compile s  torture  hops  " +
	"architectures           overhead  of CPU s  fuel/us  tools"

// line is the row as the table has it.
func (r *result) line() string {
	name := fmt.Sprintf("row %-40s", r.entry.name())
	switch {
	case r.failed:
		return name + " WRONG: see above"
	case r.absent != "":
		return name + " not to be had: " + strings.TrimPrefix(r.absent, errAbsent.Error()+": ")
	case r.refusal != "":
		return name + " refused: " + r.refusal
	}
	torture := fmt.Sprint(r.tortured)
	if r.bounded {
		torture += "+"
	}
	over := "-"
	if r.overhead > 0 {
		over = fmt.Sprintf("x %.3f", r.overhead)
	}
	tools := r.tools
	if r.entry.unlike != "" {
		tools += "; not compared with plain wazero: " + r.entry.unlike
	}
	return fmt.Sprintf("%s PASS  %7d  %10d  %9.2f  %7s  %4d  %-22s  %8s  %8.2f  %7.0f  %s",
		name, r.bytes>>10, r.size>>10, r.prepare.Seconds(), torture, r.hops, r.archs, over, r.seconds.Seconds(), r.rate,
		tools)
}

// sums are the lines below the table.
func sums(rows []result) []string {
	var ran, wrong, refused, absent int
	var overs []float64
	worst, whose := 0.0, ""
	for _, r := range rows {
		switch {
		case r.failed:
			wrong++
		case r.absent != "":
			absent++
		case r.refusal != "":
			refused++
		default:
			ran++
		}
		if r.overhead > 0 {
			overs = append(overs, r.overhead)
			if r.overhead > worst {
				worst, whose = r.overhead, r.entry.name()
			}
		}
	}
	lines := []string{fmt.Sprintf("sum rows %d: right %d, wrong %d, refused as they should be %d, not to be had %d",
		len(rows), ran, wrong, refused, absent)}
	if len(overs) > 0 {
		lines = append(lines, fmt.Sprintf("sum overhead over plain wazero, %d rows: geometric mean x %.3f (target at most "+
			"1.10), worst x %.3f, %s (target at most 1.25)", len(overs), mean(overs), worst, whose))
	}
	return lines
}
