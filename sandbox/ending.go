package sandbox

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"godwit/sandbox/wasi"
	"godwit/task"
)

// An ending is how a guest came to its end, before it is judged.
type ending struct {
	err     error // what the call of the guest returned
	refused bool  // it was refused memory at some time
}

// judge turns an ending into an outcome.
//
// WebAssembly has no out-of-memory: memory.grow answers -1 and the program
// does as it likes, mostly abort or exit. So the rule is: a program that was
// refused memory and then ended badly, ended for lack of it.
func (e ending) judge() (o task.Outcome, code uint32, message string) {
	var quota *wasi.QuotaError
	var exit *sys.ExitError
	switch {
	case e.err == nil:
		return task.Completed, 0, ""
	case errors.As(e.err, &quota):
		return task.OverQuota, 0, quota.Error()
	case errors.As(e.err, &exit) && exit.ExitCode() == 0:
		return task.Completed, 0, ""
	case e.refused && exit != nil:
		return task.OutOfMemory, 0, fmt.Sprintf("refused more memory than the job allows, then exit code %d", exit.ExitCode())
	case e.refused:
		return task.OutOfMemory, 0, "refused more memory than the job allows, then " + shortTrap(e.err)
	case exit != nil:
		return task.ExitFailure, exit.ExitCode(), fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	return task.Trapped, 0, shortTrap(e.err)
}

// trapFrames is how many frames of a trap's back-trace are reported: the
// innermost ones, which fit a message.
const trapFrames = 4

// shortTrap puts a trap and the top of its stack on one line.
func shortTrap(err error) string {
	text := strings.TrimPrefix(err.Error(), "wasm error: ")
	head, trace, ok := strings.Cut(text, "\nwasm stack trace:")
	head, _, _ = strings.Cut(head, "\n")
	head = strings.TrimSuffix(head, " (recovered by wazero)")
	if !ok {
		return head
	}
	var frames []string
	for line := range strings.Lines(trace) {
		if line = strings.TrimSpace(line); line != "" && len(frames) < trapFrames {
			frames = append(frames, strings.TrimPrefix(line, "."))
		}
	}
	return head + " in " + strings.Join(frames, " < ")
}

// withLastWords adds what the program itself said of its end: a line in the
// manner of Go's panics where there is one, else the last line, which is where
// most others put it.
func withLastWords(message string, stderr []byte) string {
	last := ""
	for line := range strings.Lines(string(stderr[max(0, len(stderr)-lastWords):])) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			break
		}
	}
	if last == "" {
		return message
	}
	return message + ": " + last
}

// lastWords is how many bytes of standard error are looked at: room for Go's
// list of goroutines.
const lastWords = 64 << 10

// clip makes any text a message.
func clip(s string) string { return task.ClipMessage(s) }
