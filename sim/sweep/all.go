package sweep

import (
	"errors"
	"fmt"
)

// RunAll runs scenarios through each, which calls run for 0 to n-1 in any order or at
// once. The error names those that failed; their reports are nil.
func RunAll(ss []*Scenario, each func(n int, run func(i int))) ([]*Report, error) {
	reports, errs := make([]*Report, len(ss)), make([]error, len(ss))
	each(len(ss), func(i int) {
		var err error
		if reports[i], err = Run(ss[i]); err != nil {
			errs[i] = fmt.Errorf("scenario %d of %d: %w", i+1, len(ss), err)
		}
	})
	return reports, errors.Join(errs...)
}
