package task

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Of tasks that another needs it is known whether one is among them without listing them.
func TestMembersHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := randomStages(t)
		for i := range j.Tasks() {
			for n, m := range j.Needed(i) {
				all := slices.Collect(m.All())
				if uint64(len(all)) != m.Count() || m.Count() != j.Widest(n) {
					t.Fatalf("task %d needs %d tasks, %d are counted, and each needs %d", i, len(all), m.Count(), j.Widest(n))
				}
				from, to := j.StageRange(int(n.Stage))
				for u := from; u < to; u++ {
					if got, want := m.Has(u), slices.Contains(all, u); got != want {
						t.Fatalf("task %d needs %v, and %d is one of them: %v", i, all, u, got)
					}
				}
				if m.Has(to) && !slices.Contains(all, to) || m.Has(i) {
					t.Fatalf("task %d needs one that is of no stage before it", i)
				}
			}
		}
	})
}

// Files are given to a task under the names that it may read, and no two of them under one.
func TestFilesThatAreGivenMayBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := randomStages(t)
		for i := range j.Tasks() {
			var files []Output
			for n, members := range j.Needed(i) {
				for u := range members.All() {
					files = append(files, j.FilesOf(n, u, []Output{{Name: "other"}, {Name: "out"}})...)
				}
			}
			slices.SortFunc(files, func(a, b Output) int {
				switch {
				case a.Name < b.Name:
					return -1
				case a.Name > b.Name:
					return 1
				}
				t.Fatalf("task %d is given two files %s", i, a.Name)
				return 0
			})
			if err := j.CheckReads(i, files); err != nil {
				t.Fatalf("task %d is given %v: %v", i, files, err)
			}
			if len(files) == 0 {
				continue
			}
			files[0].Name = "x" + files[0].Name
			if err := j.CheckReads(i, files[:1]); err == nil {
				t.Fatalf("task %d may read %s", i, files[0].Name)
			}
		}
	})
}

// A file that another lies below is refused: a sandbox cannot hold both.
func TestReadsOfAFileAndADirectory(t *testing.T) {
	j := stagedJob(t, pipeline)
	j.Stages[1].Needs[0].Reads = []string{"a", "a/b"}
	if err := j.CheckReads(6, []Output{{Name: "simulate/a"}}); err != nil {
		t.Error(err)
	}
	if err := j.CheckReads(6, []Output{{Name: "simulate/a"}, {Name: "simulate/a/b"}}); err == nil {
		t.Error("a file lies below a file")
	}
}

func TestPadded(t *testing.T) {
	for _, c := range []struct {
		index, of uint64
		want      string
	}{
		{0, 0, "0"},
		{0, 1, "0"},
		{9, 10, "9"},
		{9, 11, "09"},
		{99, 100, "99"},
		{5, 1000, "005"},
		{5, 1001, "0005"},
	} {
		if got := Padded(c.index, c.of); got != c.want {
			t.Errorf("%d of %d is %q, want %q", c.index, c.of, got, c.want)
		}
	}
}

func TestNeedKinds(t *testing.T) {
	for kind, want := range map[NeedKind]string{
		NeedEach:  "each",
		NeedBy:    "by",
		NeedAfter: "after",
		7:         "kind 7",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q, want %q", uint8(kind), got, want)
		}
	}
}
