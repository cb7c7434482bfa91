package task

import (
	"strconv"
	"strings"
)

// A decimal is mantissa / 10^decimals, exactly. Its mantissa has at most
// maxDigits digits, so that the difference of two fits an int64.
type decimal struct {
	mantissa int64
	decimals uint8
}

const (
	maxDigits   = 18                            // that any int64 has room for
	maxMantissa = 1_000_000_000_000_000_000 - 1 // maxDigits nines
	// maxDecimalText is the longest text of a decimal: a sign, maxDigits
	// digits, a point and the zero before it.
	maxDecimalText = maxDigits + 3
)

// withinDigits reports whether m may be a mantissa.
func withinDigits(m int64) bool { return -maxMantissa <= m && m <= maxMantissa }

// parseDecimal reads "12", "-3", "+0.250": digits with at most one point
// between them. Exponents, hexadecimal and the like are not numbers here: the
// text of a point must be foreseeable by the person who writes the file.
func parseDecimal(s string) (decimal, bool) {
	unsigned, negative := strings.CutPrefix(s, "-")
	if !negative {
		unsigned = strings.TrimPrefix(s, "+")
	}
	whole, fraction, pointed := strings.Cut(unsigned, ".")
	if !allDigits(whole) || pointed && !allDigits(fraction) {
		return decimal{}, false
	}
	fraction = strings.TrimRight(fraction, "0")
	digits := strings.TrimLeft(whole, "0") + fraction
	if len(digits) > maxDigits || len(fraction) > maxDigits {
		return decimal{}, false
	}
	m, err := strconv.ParseInt("0"+digits, 10, 64)
	if err != nil {
		return decimal{}, false
	}
	if negative {
		m = -m
	}
	return decimal{m, uint8(len(fraction))}, true
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// String writes d with the fewest digits that are exact.
func (d decimal) String() string {
	digits := strconv.FormatInt(d.mantissa, 10)
	if d.decimals == 0 {
		return digits
	}
	digits, negative := strings.CutPrefix(digits, "-")
	if missing := int(d.decimals) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(d.decimals)
	text := digits[:point]
	if fraction := strings.TrimRight(digits[point:], "0"); fraction != "" {
		text += "." + fraction
	}
	if negative {
		text = "-" + text
	}
	return text
}

// negated returns -d.
func (d decimal) negated() decimal { return decimal{-d.mantissa, d.decimals} }

// align gives all the same decimals; false if one then has too many digits.
func align(ds ...decimal) ([]decimal, bool) {
	var most uint8
	for _, d := range ds {
		most = max(most, d.decimals)
	}
	for i := range ds {
		for ds[i].decimals < most {
			ds[i].mantissa *= 10
			ds[i].decimals++
			if !withinDigits(ds[i].mantissa) {
				return nil, false
			}
		}
	}
	return ds, true
}
