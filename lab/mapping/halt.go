package mapping

import (
	"strconv"
	"strings"

	"godwit/internal/failure"
)

// A Halt says after how many failures a map ends early. The zero value is never.
type Halt struct {
	soon  bool // what runs ends, and no more is begun; else all is cancelled at once
	fail  uint64
	share float64 // of all tasks, in place of fail; 0 for none
}

// ParseHalt reads what --halt says: never, now,fail=1, soon,fail=10% and such.
func ParseHalt(text string) (Halt, error) {
	if text == "" || text == "never" {
		return Halt{}, nil
	}
	const hint = "write now,fail=1 or soon,fail=10%, or never"
	when, what, _ := strings.Cut(text, ",")
	number, isFail := strings.CutPrefix(what, "fail=")
	soon := when == "soon"
	if !soon && when != "now" || !isFail {
		return Halt{}, failure.Usage(hint, "--halt %q says nothing", text)
	}
	if percent, found := strings.CutSuffix(number, "%"); found {
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(p > 0 && p <= 100) {
			return Halt{}, failure.Usage(hint, "--halt %q: %s is no share", text, number)
		}
		return Halt{soon: soon, share: p / 100}, nil
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n == 0 {
		return Halt{}, failure.Usage(hint, "--halt %q: %s is no number of failures", text, number)
	}
	return Halt{soon: soon, fail: n}, nil
}

// reached reports whether so many failures of so many tasks are enough.
func (h Halt) reached(failed, total uint64) bool {
	return h.fail > 0 && failed >= h.fail || h.share > 0 && float64(failed) >= h.share*float64(total)
}
