//go:build !plot

package report

import (
	"errors"
	"io"

	"godwit/sim"
)

// Draw returns an error: what draws is built with the tag plot.
func Draw(io.Writer, Format, []*sim.Report, Options) error {
	return errors.New("this program was built without the tag plot and draws no pictures")
}
