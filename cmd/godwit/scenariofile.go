package main

import (
	"io"
	"path/filepath"

	"godwit/sim/scenario"
	"godwit/trace"
)

// readScenario reads a scenario file and, by the given functions, the files that
// it names; their names are relative to it.
func readScenario(path string, open func(string) (*trace.Trace, error), openLog func(string) (*trace.Workload, error)) (*scenario.Experiment, error) {
	var text []byte
	err := withFile(path, func(r io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(r, scenario.MaxFile+1))
		return err
	})
	if err != nil {
		return nil, usage("", "reading the scenario: %w", err)
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
		func(file string) (text []byte, err error) {
			err = withFile(beside(file), func(r io.Reader) (err error) {
				text, err = io.ReadAll(io.LimitReader(r, scenario.MaxFile+1))
				return err
			})
			return text, err
		})
}
