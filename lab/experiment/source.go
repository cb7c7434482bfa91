package experiment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"godwit/internal/failure"
	"godwit/sim/scenario"
	"godwit/trace"
)

// Load reads a scenario file and the other files in its directory that it names.
func Load(path string) (Source, error) {
	text, err := readText(path, MaxScenario)
	if err != nil {
		return Source{}, failure.Usage("", "reading the scenario: %w", err)
	}
	s := Source{Name: filepath.Base(path), Scenario: string(text), Files: map[string]string{}}
	read := func(file string) ([]byte, error) {
		if file != filepath.Base(file) {
			return nil, errors.New("put it beside the scenario: the files of an experiment have no directory")
		}
		text, err := readText(filepath.Join(filepath.Dir(path), file), MaxFileSize)
		if err == nil {
			s.Files[file] = string(text)
		}
		return text, err
	}
	_, err = scenario.Decode(path, text, func(file string) (*trace.Trace, error) {
		if _, err := read(file); err != nil {
			return nil, err
		}
		return s.trace(file)
	}, func(string) (*trace.Workload, error) { return nil, errNoLog }, read)
	if err != nil {
		return Source{}, err
	}
	return s, nil
}

// readText returns the content of a text file. It fails if the file has more than most bytes.
func readText(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > most:
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%s is no text (write a trace as CSV with `godwit trace convert`)", path)
	}
	return text, nil
}
