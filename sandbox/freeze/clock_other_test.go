//go:build !unix

package freeze_test

import "time"

// processTime is not known here.
func processTime() time.Duration { return 0 }
