package task

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// sizeUnits are the units of sizes, the larger before the smaller.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// ParseSize reads a size in bytes: "256MiB", "1.5 GiB", "10MB", "4096". Units
// are B, KiB, MiB, GiB, TiB and the decimal KB, MB, GB, TB, in any case. The
// size is not negative; a fraction of a byte is dropped.
func ParseSize(s string) (int64, error) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
	number, ok := parseDecimal(s[:digits])
	if !ok {
		return 0, fmt.Errorf("%s is not a size such as 256MiB", quote(s))
	}
	scale := int64(1)
	if unit := strings.TrimPrefix(s[digits:], " "); unit != "" {
		if scale = unitBytes(unit); scale == 0 {
			return 0, fmt.Errorf("%s is not a size: there is no unit %s", quote(s), quote(unit))
		}
	}
	hi, lo := bits.Mul64(uint64(number.mantissa), uint64(scale))
	divisor := uint64(math.Pow10(int(number.decimals)))
	if hi >= divisor {
		return 0, fmt.Errorf("size %s is too large", quote(s))
	}
	n, _ := bits.Div64(hi, lo, divisor)
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("size %s is too large", quote(s))
	}
	return int64(n), nil
}

// unitBytes returns what a unit stands for, 0 if there is no such unit.
func unitBytes(unit string) int64 {
	for _, u := range sizeUnits {
		if strings.EqualFold(u.name, unit) {
			return u.bytes
		}
	}
	return 0
}

// FormatSize writes a size for people, in the largest binary unit that leaves
// at least 1, with at most one digit after the point: "256MiB", "1.5GiB",
// "517B". ParseSize reads it back, but for the digits that were dropped.
func FormatSize(n int64) string {
	if n < 0 {
		return "-" + strconv.FormatUint(-uint64(n), 10) + "B"
	}
	for _, u := range sizeUnits {
		binary := strings.Contains(u.name, "iB")
		if !binary || n < u.bytes {
			continue
		}
		text := strconv.FormatFloat(float64(n)/float64(u.bytes), 'f', 1, 64)
		return strings.TrimSuffix(text, ".0") + u.name
	}
	return strconv.FormatInt(n, 10) + "B"
}
