package batch

import (
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "n1": "n1", "n[1-3]": "n1 n2 n3", "n[2,4]": "n2 n4", "a,b": "a b",
		"n[08-10],login": "n08 n09 n10 login", "rack[1-2]x": "rack1x rack2x",
		"n[3-1]": "error", "n[1": "error", "n[1-2]m[1-2]": "error", "n[a-b]": "error", "n[0-999999]": "error",
	} {
		got, err := expand(list)
		words := strings.Join(got, " ")
		if err != nil {
			words = "error"
		}
		if words != want {
			t.Errorf("%q: %q (%v), want %q", list, words, err, want)
		}
	}
}

func TestArrayTasks(t *testing.T) {
	for id, want := range map[string]int{
		"6": 1, "6_3": 1, "6_[1-3]": 3, "15_[3,5,7,9%2]": 2, "6_[1-9:2]": 5, "6_[]": 1, "6_[1-": 1, "6_[5-2]": 1, "7+1": 1,
	} {
		if got := arrayTasks(id); got != want {
			t.Errorf("%s: %d tasks, want %d", id, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]int{"12": 12, "1.5K": 1536, "2M": 2 << 20, "2-4": 2, "4+": 4, "": -1, "-1": -1,
		"x": -1, "NaN": -1, "1e300": -1} {
		got, err := count(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d (%v), want %d", text, got, err, want)
		}
	}
}

func TestOutputIsBounded(t *testing.T) {
	b := &bounded{left: 4}
	if n, err := b.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := b.Write([]byte("de")); err == nil {
		t.Error("5 of 4 bytes: no error")
	}
	if _, err := parseNodes(make([]byte, maxOutput+1)); err == nil {
		t.Error("output beyond the limit: no error")
	}
}

func FuzzParseQueue(f *testing.F) {
	f.Add(recorded(f, "squeue-2205"), recorded(f, "sinfo-2205-mixed"))
	f.Add([]byte("6_[1-1000000%7]|PENDING|None|1K|2-3|a,b|u|n[1-65000]||x|y"), []byte("n|a*|idle|4+"))
	f.Fuzz(func(t *testing.T, queue, nodes []byte) {
		hosts, err := parseNodes(nodes)
		if err != nil {
			return
		}
		list, err := parseQueue(queue)
		if err != nil {
			return
		}
		s := &Slurm{Name: "godwit-pilot", User: "root"}
		got, err := s.snapshot(hosts, list)
		if err != nil {
			return
		}
		if len(got.Nodes) > len(hosts) || len(got.Places)+len(got.Waiting) > len(list) {
			t.Errorf("%d nodes, %d placeholders and %d jobs of %d and %d rows", len(got.Nodes), len(got.Places),
				len(got.Waiting), len(hosts), len(list))
		}
		for i := range got.Waiting {
			if j := &got.Waiting[i]; j.Nodes < 0 || j.ID == "" {
				t.Errorf("job %+v", *j)
			}
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("n[1-3,07],login")
	f.Fuzz(func(t *testing.T, list string) {
		names, err := expand(list)
		if err == nil && (len(names) > maxNames || slices.Contains(names, "")) {
			t.Errorf("%q: %d names", list, len(names))
		}
	})
}
