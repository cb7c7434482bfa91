package traces

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// set writes a set's files and returns the set's directory.
func set(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dg")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Every layout of a set assigns its files to hosts and days.
func TestLayoutsOfDays(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a directory a host": {map[string]string{"a/day1": "0 5 100\n", "a/day2": "0 7 100\n", "b/day1": "0 9 100\n",
			resourceFile: "a 2000 200\nb 1000 100\n"}, "a: 0s-5s 24h0m0s-24h0m7s; b: 0s-9s; "},
		"a host in the directory": {map[string]string{"day2.txt": "0 7 100\n", "day10.txt": "0 9 100\n"},
			"dg: 0s-7s 192h0m0s-192h0m9s; "},
		"numbers": {map[string]string{"1": "start end cycles\n0 5 100\n", "2": "0 7 100\n"}, "dg: 0s-5s 24h0m0s-24h0m7s; "},
		"dates": {map[string]string{"2005-02-28": "0 5 100\n", "2005-03-02": "0 7 100\n"},
			"dg: 0s-5s 48h0m0s-48h0m7s; "},
		"days of files of hosts": {map[string]string{"a.20050228": "0 5 100\n", "a.20050301.gz.txt": "0 7 100\n", "b": "0 1 1\n"},
			"a: 308208h0m0s-308208h0m5s 308232h0m0s-308232h0m7s; b: 0s-1s; "},
		"names of no days": {map[string]string{"a/x10": "0 5 100\n", "a/x9": "0 7 100\n0 8 100\n"},
			"a: 0s-7s 24h0m0s-24h0m8s 48h0m0s-48h0m5s; "},
		"numbered hosts": {map[string]string{"1": "1000000 1000005 100\n", "2": "1000003 1000007 100\n"},
			"1: 0s-5s; 2: 3s-7s; "},
		"numbered hosts that are listed": {map[string]string{"1": "0 5 100\n", "2": "0 7 100\n",
			resourceFile: "1 2000 200\n2 1000 100\n"}, "1: 0s-5s; 2: 0s-7s; "},
		"named hosts": {map[string]string{"host1": "0 5 100\n", "host2": "0 7 100\n", ".DS_Store": "x"},
			"host1: 0s-5s; host2: 0s-7s; "},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := Read(set(t, tt.files), trace.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := sessions(tr); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The hours that days describe become the trace's window, so the rest of a day is no outage.
func TestHoursOfDays(t *testing.T) {
	dir := set(t, map[string]string{"a/day1": "0 25200 100\n", "a/day2": "0 7200 100\n", "b/day1": "0 3600 100\n"})
	for epoch, want := range map[string]string{"1994-02-28T10:00:00Z": "10h0m0s-17h0m0s", "1970-01-01T00:00:00Z": "0s-7h0m0s",
		"1994-02-28T20:00:00Z": "all"} {
		at, err := time.Parse(time.RFC3339, epoch)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := Read(dir, trace.ReadOptions{Epoch: at})
		if err != nil || tr.Window.String() != want {
			t.Errorf("from %s: got %v, %v, want %s", epoch, tr.Window, err, want)
		}
	}
	dated := set(t, map[string]string{"a/1994-02-28": "0 25200 100\n", "a/1994-03-01": "0 7200 100\n"})
	tr, err := Read(dated, trace.ReadOptions{Epoch: time.Date(1994, 1, 1, 10, 0, 0, 0, time.UTC)})
	if err != nil || tr.Window.String() != "10h0m0s-17h0m0s" || tr.Start.Format(time.DateTime) != "1994-02-28 10:00:00" {
		t.Errorf("dates: got %v from %v, %v", tr.Window, tr.Start, err)
	}
	one, err := Read(set(t, map[string]string{"a": "0 5 100\n", "b": "0 7 100\n"}), trace.ReadOptions{})
	if err != nil || !one.Window.Whole() {
		t.Errorf("hosts of one file: got %v, %v", one.Window, err)
	}
}

// Errors name the file, the line and the remedy.
func TestDaysThatCannotBeRead(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"b: no files in it: remove the directory, or add the host's days": {"a/day1": "0 5 100\n", "b/.hidden": ""},
		"a: c is a directory in a host's directory: move its files up":    {"a/c/day1": "0 5 100\n"},
		"day2:1: \"x\" is not a number of seconds":                        {"a/day1": "0 5 100\n", "a/day2": "x y z\n"},
		"sort the rows by time":                                           {"a/day1": "0 90000 100\n", "a/day2": "0 5 100\n"},
	} {
		if _, err := Read(set(t, files), trace.ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestDayOf(t *testing.T) {
	for name, want := range map[string]string{"day3": "3", "Day-03.txt": "3", "7": "7", "2005-02-28.gz": "2005-02-28",
		"20050228": "2005-02-28", "day": "", "": "", "host1": "", "10001": "", "99999999999": "", "2005-02-30": ""} {
		got := ""
		switch d := dayOf(name); {
		case !d.date.IsZero():
			got = d.date.Format("2006-01-02")
		case d.numbered:
			got = strconv.Itoa(d.number)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
