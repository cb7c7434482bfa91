package mapping

import (
	"strconv"
	"strings"

	"godwit/internal/failure"
)

// A Halt says after how many failures the rest is cancelled. The zero value is never.
type Halt struct {
	fail  uint64
	share float64 // of all tasks, in place of fail; 0 for none
}

// ParseHalt reads what --halt says: never, now,fail=1 or now,fail=10%.
func ParseHalt(text string) (Halt, error) {
	if text == "" || text == "never" {
		return Halt{}, nil
	}
	const hint = "write now,fail=1 or now,fail=10%, or never"
	when, what, _ := strings.Cut(text, ",")
	number, isFail := strings.CutPrefix(what, "fail=")
	if when == "soon" {
		return Halt{}, failure.Usage(hint, "--halt %q: what runs elsewhere is cancelled or goes on, there is no soon", text)
	}
	if when != "now" || !isFail {
		return Halt{}, failure.Usage(hint, "--halt %q says nothing", text)
	}
	if percent, found := strings.CutSuffix(number, "%"); found {
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(p > 0 && p <= 100) {
			return Halt{}, failure.Usage(hint, "--halt %q: %s is no share", text, number)
		}
		return Halt{share: p / 100}, nil
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n == 0 {
		return Halt{}, failure.Usage(hint, "--halt %q: %s is no number of failures", text, number)
	}
	return Halt{fail: n}, nil
}

// reached reports whether so many failures of so many tasks are enough.
func (h Halt) reached(failed, total uint64) bool {
	return h.fail > 0 && failed >= h.fail || h.share > 0 && float64(failed) >= h.share*float64(total)
}
