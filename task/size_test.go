package task

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "1B": 1, "256MiB": 256 << 20, "256mib": 256 << 20, "256 MiB": 256 << 20, "1KiB": 1024,
		"1GiB": 1 << 30,
		"2TiB": 2 << 40, "1KB": 1000, "10MB": 10e6, "1GB": 1e9, "1TB": 1e12, "1.5GiB": 3 << 29, "0.5KiB": 512,
		"1.000KB":             1000,
		"9223372036854775807": -1, "999999999999999999": 999999999999999999, "8388607TiB": 8388607 << 40, "8388608TiB": -1,
		"1.1B": 1, "0.0001KiB": 0, "1.4MiB": 1468006,
		"": -1, "MiB": -1, "-1": -1, "-5MiB": -1, "1e3": -1, "1.5.2MiB": -1, ".5MiB": -1, "5.MiB": -1,
		"12 bananas": -1, "5M": -1, "5  MiB": -1, "5MiB ": -1, " 5": -1, "0x10": -1, "1_000": -1,
		"99999999999999999999": -1, "+5": -1,
	} {
		got, err := ParseSize(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 517: "517B", 1023: "1023B", 1024: "1KiB", 1536: "1.5KiB", 256 << 20: "256MiB", 1<<30 + 1<<29: "1.5GiB",
		1500000: "1.4MiB", math.MaxInt64: "8388608TiB", -5: "-5B", math.MinInt64: "-9223372036854775808B",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %s, want %s", n, got, want)
		}
	}
}

// What is formatted reads back to within the digit that was dropped.
func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<60).Draw(t, "n")
		text := FormatSize(n)
		back, err := ParseSize(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := math.Abs(float64(back - n)); diff > 0.06*float64(max(n, 1)) {
			t.Fatalf("%d is %s is %d", n, text, back)
		}
	})
}
