package traces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/trace"
)

// sessions lists when the hosts of a trace were available, in seconds from its start.
func sessions(t *trace.Trace) string {
	var b strings.Builder
	for _, h := range t.Hosts {
		b.WriteString(h.History.Host + ":")
		for i := range h.History.Len() {
			if s := h.History.Spell(i); s.State == trace.Available {
				b.WriteString(" " + s.Start.Sub(t.Start).String() + "-" + s.End.Sub(t.Start).String())
			}
		}
		b.WriteString("; ")
	}
	return b.String()
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrittenTracesComeBack: in each format, packed or not, and from a directory.
func TestWrittenTracesComeBack(t *testing.T) {
	tr, err := Read(written(t, "s.csv", "host,start_s,end_s\na,0,10\nb,5,20\na,15,20\n"), trace.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := "a: 0s-10s 15s-20s; b: 5s-20s; "
	for _, name := range []string{"x.csv", "x.csv.gz", "x.tab", "x.avt", "x.avt.gz"} {
		path := filepath.Join(t.TempDir(), name)
		f, err := FormatOf(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(path, tr, f); err != nil {
			t.Fatal(name, err)
		}
		back, err := Read(path, trace.ReadOptions{})
		if err != nil {
			t.Fatal(name, err)
		}
		want := want
		if name == "x.tab" { // it numbers the hosts
			want = "1: 0s-10s 15s-20s; 2: 5s-20s; "
		}
		if got := sessions(back); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	dir := filepath.Join(t.TempDir(), "archive")
	if err := Write(dir, tr, trace.DGTA); err != nil {
		t.Fatal(err)
	}
	back, err := Read(dir, trace.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := sessions(back); got != want {
		t.Errorf("from a directory: got %s, want %s", got, want)
	}
}

func TestFormatOf(t *testing.T) {
	for _, name := range []string{"trace", "trace.gz", "trace.txt", ".csv.d/trace", "a.json.gz"} {
		if f, err := FormatOf(name); err == nil {
			t.Errorf("%s is of the format %s", name, f)
		}
	}
}

// TestDirectoriesThatAreNone: what is wrong with one is an error with its name.
func TestDirectoriesThatAreNone(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no files":       {},
		"resources only": {resourceFile: ""},
		"an empty file":  {"host1": ""},
		"an unread one":  {"host1": "0 1 110653\n", "host2": "x\n"},
	} {
		dir := t.TempDir()
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if tr, err := Read(dir, trace.ReadOptions{}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, %v", name, tr, err)
		}
	}
}

// TestHostsThatNameNoFile: a trace from elsewhere writes nothing outside its directory.
func TestHostsThatNameNoFile(t *testing.T) {
	for _, host := range []string{"../a", "a/b", "/a", ".", "..", "a.b"} {
		tr, err := Read(written(t, "s.csv", "host,start_s,end_s\n"+host+",0,10\n"), trace.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		above := t.TempDir()
		if err := Write(filepath.Join(above, "out"), tr, trace.DGTA); err == nil {
			t.Errorf("host %q was written", host)
		}
		for _, dir := range []string{above, filepath.Join(above, "out")} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !e.IsDir() {
					t.Errorf("host %q made the file %s", host, filepath.Join(dir, e.Name()))
				}
			}
		}
	}
}
