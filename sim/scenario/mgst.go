package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"godwit/internal/yamlfile"
	"godwit/task"
	"godwit/trace"
)

// A Server is a line of a .srs file of the McMaster testbed (Kokaly 2008, appendix
// B.3): a machine, and how long a loop of so many iterations took it. The password
// that such a line has is not kept.
type Server struct {
	Host       string
	Minutes    float64 // above 0
	Iterations float64 // 1 or more
}

// Rate is at how many jobs of so many iterations a minute the machine would work.
// Loops are nested in three, so that time goes by the cube.
func (s Server) Rate(iterations float64) float64 {
	return math.Pow(s.Iterations/iterations, 3) / s.Minutes
}

const (
	// mostMinutes and mostIterations bound a calibration, so that no cube runs over.
	mostMinutes, mostIterations = 1e6, 1e9
	// mostRate is that of sim.Rates.
	mostRate = 1e9
	// longestName is of a host.
	longestName = 255
)

// lineError is an error at a line of a file.
func lineError(file string, line int, hint, format string, args ...any) error {
	return &task.Error{File: file, Line: line, Column: 1, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// ReadServers reads a .srs file: a machine a line, `hostname; password; minutes;
// iterations`. Spaces and empty lines are ignored. Errors are *task.Error.
func ReadServers(file string, text []byte) ([]Server, error) {
	const form = "a line is `hostname; password; minutes to process; iterations`"
	var out []Server
	seen := map[string]int{}
	err := eachLine(file, text, func(n int, line string) error {
		parts := strings.Split(line, ";")
		if len(parts) == 5 && strings.TrimSpace(parts[4]) == "" {
			parts = parts[:4]
		}
		if len(parts) != 4 {
			return lineError(file, n, form, "there are %d parts", len(parts))
		}
		s := Server{Host: strings.TrimSpace(parts[0])}
		if s.Host == "" || len(s.Host) > longestName {
			return lineError(file, n, form, "the hostname has %d characters: it has 1 to %d", len(s.Host), longestName)
		}
		if first := seen[s.Host]; first > 0 {
			return lineError(file, n, "name each machine once", "%s is there twice, first in line %d",
				yamlfile.Quote(s.Host), first)
		}
		seen[s.Host] = n
		var ok bool
		if s.Minutes, ok = within(parts[2], math.SmallestNonzeroFloat32, mostMinutes); !ok {
			return lineError(file, n, form, "%s is no number of minutes above 0", yamlfile.Quote(parts[2]))
		}
		if s.Iterations, ok = within(parts[3], 1, mostIterations); !ok {
			return lineError(file, n, form, "%s is no number of iterations from 1 on", yamlfile.Quote(parts[3]))
		}
		if len(out) == trace.MaxHosts {
			return lineError(file, n, "", "there are more than %d machines", trace.MaxHosts)
		}
		out = append(out, s)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = lineError(file, 1, form, "there are no machines")
	}
	return out, err
}

// ReadRates reads a .mue file: for each class a line of rates with commas between
// them, a rate for each machine. Spaces and empty lines are ignored. Errors are
// *task.Error.
func ReadRates(file string, text []byte) ([][]float64, error) {
	const form = "a line has a class's rate on each machine, with commas between them"
	var out [][]float64
	err := eachLine(file, text, func(n int, line string) error {
		if len(out) == maxClasses {
			return lineError(file, n, "", "there are more than %d classes", maxClasses)
		}
		parts := strings.Split(line, ",")
		if len(parts) > 1 && strings.TrimSpace(parts[len(parts)-1]) == "" {
			parts = parts[:len(parts)-1]
		}
		if len(out) > 0 && len(parts) != len(out[0]) {
			return lineError(file, n, form, "there are %d rates, and %d in the first line", len(parts), len(out[0]))
		}
		row := make([]float64, len(parts))
		for k, p := range parts {
			var ok bool
			if row[k], ok = within(p, 0, mostRate); !ok {
				return lineError(file, n, form, "rate %d is %s: it is a number from 0 to %v",
					k+1, yamlfile.Quote(p), float64(mostRate))
			}
		}
		out = append(out, row)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = lineError(file, 1, form, "there are no rates")
	}
	return out, err
}

// eachLine calls read with each line that is not empty, and its number.
func eachLine(file string, text []byte, read func(n int, line string) error) error {
	if len(text) > MaxFile {
		return lineError(file, 1, "", "the file has %d bytes: at most %d are read", len(text), MaxFile)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := read(n, line); err != nil {
			return err
		}
	}
	return nil
}

// within reads a number between two.
func within(text string, least, most float64) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && x >= least && x <= most
}
