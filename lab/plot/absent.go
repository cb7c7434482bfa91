//go:build !plot

package plot

import "godwit/internal/failure"

// Able returns an error with the way out: this binary does not draw.
func Able() error {
	return failure.Usage("build it with `go build -tags plot -o godwit ./cmd/godwit`", "this godwit draws no pictures")
}

// Save returns what Able does.
func Save(string, ...Chart) error { return Able() }
