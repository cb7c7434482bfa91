package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"godwit/internal/yamlfile"
)

const day = 24 * time.Hour

// MaxPast is the longest past of real nodes. Members keep no longer histories of each other, and TDE reads no more.
const MaxPast = 31 * day

// ParsePast reads the length of a past: whole days, such as 10d, or 0 for none.
func ParsePast(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	digits, ok := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(digits)
	if most := int(MaxPast / day); !ok || err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s is not a past: it takes 1d to %dd", yamlfile.Quote(text), most)
	}
	return time.Duration(n) * day, nil
}

// PastText writes the length of a past as ParsePast reads it, "" for none.
func PastText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%dd", d/day)
}
