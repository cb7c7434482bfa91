// Package files reads and writes the files that experiments name.
package files

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/sim/scenario"
	"godwit/trace"
)

// Read opens a file for read, and closes it.
func Read(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

// Write writes a file, gzipped if its name ends in .gz.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !strings.HasSuffix(path, ".gz") {
		return write(f)
	}
	z := gzip.NewWriter(f)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

// SaveJSON writes a report to a file, as one line of JSON.
func SaveJSON(path string, v any) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := errors.Join(table.JSON(f, v), f.Close()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// Scenario reads a scenario file and, by the given functions, the files that
// it names; their names are relative to it.
func Scenario(
	path string, open func(string) (*trace.Trace, error), openLog func(string) (*trace.Workload, error),
) (*scenario.Experiment, error) {
	text, err := scenarioText(path)
	if err != nil {
		return nil, failure.Usage("", "reading the scenario: %w", err)
	}
	beside := func(file string) string {
		if filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(filepath.Dir(path), file)
	}
	return scenario.Decode(path, text,
		func(file string) (*trace.Trace, error) { return open(beside(file)) },
		func(file string) (*trace.Workload, error) { return openLog(beside(file)) },
		func(file string) ([]byte, error) { return scenarioText(beside(file)) })
}

// scenarioText reads a file, at most a byte more than a scenario may have.
func scenarioText(path string) (text []byte, err error) {
	err = Read(path, func(r io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(r, scenario.MaxFile+1))
		return err
	})
	return text, err
}

// Log reads a workload log in the Standard Workload Format.
func Log(path string) (l *trace.Workload, err error) {
	err = Read(path, func(r io.Reader) (err error) {
		l, err = trace.ReadSWF(path, r)
		return err
	})
	return l, err
}
