// Package traces reads, makes, writes and describes availability traces and workloads.
package traces

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/trace"
)

// A Source says where a trace comes from: a file, a directory of per-second
// files, or a generator.
type Source struct {
	Format, Epoch, Snapshots, Kind string
	Hosts, Days                    int
	Seed                           uint64
}

// Load reads the trace at path, or makes the one that --synth names if path is
// "". What is wrong with either is a usage error.
func (f *Source) Load(path string) (*trace.Trace, error) {
	switch {
	case path == "" && f.Kind == "":
		return nil, failure.Usage("name a file, or a kind with --synth", "no trace is named")
	case path != "" && f.Kind != "":
		return nil, failure.Usage("leave out one of them", "both a file and --synth are given")
	case f.Kind != "":
		t, err := trace.Synthesize(f.Kind, trace.SynthConfig{Hosts: f.Hosts, Days: f.Days, Seed: f.Seed})
		if err != nil {
			return nil, failure.Usage("", "%w", err)
		}
		return t, nil
	}
	o := trace.ReadOptions{Format: trace.Format(f.Format)}
	if f.Epoch != "" {
		var err error
		if o.Epoch, err = time.Parse(time.RFC3339, f.Epoch); err != nil {
			return nil, failure.Usage("write it like 2025-12-11T20:21:02Z", "--epoch %q is not a date and time", f.Epoch)
		}
	}
	t, err := Read(path, o)
	if err != nil {
		return nil, failure.Usage("", "reading the trace: %w", err)
	}
	if f.Snapshots != "" {
		err := files.Read(f.Snapshots, func(r io.Reader) error { return trace.ReadSnapshots(t, f.Snapshots, r) })
		if err != nil {
			return nil, failure.Usage("", "reading the snapshots: %w", err)
		}
	}
	return t, nil
}

// Read reads a trace file, or the directory of a Desktop Grid Trace Archive set.
func Read(path string, o trace.ReadOptions) (*trace.Trace, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		return readTraceDir(path, o)
	}
	var t *trace.Trace
	err := files.Read(path, func(r io.Reader) (err error) {
		t, err = trace.Read(path, r, o)
		return err
	})
	return t, err
}

// FormatOf tells the format to write from a file's name.
func FormatOf(path string) (trace.Format, error) {
	switch ext := filepath.Ext(strings.TrimSuffix(path, ".gz")); ext {
	case ".csv":
		return trace.CSV, nil
	case ".tab":
		return trace.FTA, nil
	case ".avt":
		return trace.AVT, nil
	}
	return "", failure.Usage(fmt.Sprintf("name one with --to: %v", trace.Formats()), "no format belongs to the name %s",
		path)
}

// Write writes a trace, gzipped if the path ends in .gz; DGTA writes a
// directory with a file a host.
func Write(path string, t *trace.Trace, f trace.Format) error {
	if f != trace.DGTA {
		return files.Write(path, func(w io.Writer) error { return trace.Write(w, t, f) })
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	for _, h := range t.Hosts {
		if name := h.History.Host; name != filepath.Base(name) || strings.ContainsAny(name, `/\.`) {
			return failure.Usage("convert to another format", "host %q cannot name a file", name)
		}
		one := &trace.Trace{Hosts: []trace.Host{h}, Synthetic: t.Synthetic}
		err := files.Write(filepath.Join(path, h.History.Host), func(w io.Writer) error {
			return trace.Write(w, one,
				trace.DGTA)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
