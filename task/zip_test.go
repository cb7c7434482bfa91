package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Axes that go together have as many points as one of them, and each point has the values of one place,
// at the place of the axis that the file has first; what a template names of them is no product either.
func TestZip(t *testing.T) {
	const text = "module: a.wasm\nsweep: {a: [a1, a2], b: [x, y, z], c: {from: 1, to: 2}, d: [d1, d2, d3]}\n" +
		"zip: [[c, a], [b, d]]\n"
	f, err := ParseFile("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range f.Sweep.Count() {
		var p []string
		for _, v := range f.Sweep.Point(i) {
			p = append(p, v.Value)
		}
		got = append(got, strings.Join(p, " "))
	}
	want := []string{"1 a1 x d1 0", "1 a1 y d2 0", "1 a1 z d3 0", "2 a2 x d1 0", "2 a2 y d2 0", "2 a2 z d3 0"}
	if !slices.Equal(got, want) {
		t.Errorf("the points are %q, want %q", got, want)
	}
	for template, want := range map[string]uint64{"{{.a}}{{.c}}": 2, "{{.d}}": 3, "{{.a}}{{.d}}": 6, "{{.trial}}": 1} {
		r, _, err := f.Sweep.restrict(template)
		if err != nil || r.Count() != want || r.Validate() != nil {
			t.Errorf("%s: %d points, %v, %v; want %d", template, r.Count(), err, r.Validate(), want)
		}
	}
}

// Whatever goes together: every point is another, each group is at one place, and what a restricted sweep
// comes to is what the points come to.
func TestZipProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sweep
		length := 0
		for k := range rapid.IntRange(1, 5).Draw(t, "axes") {
			joined := k > 0 && rapid.Bool().Draw(t, "joined")
			if !joined {
				length = rapid.IntRange(1, 3).Draw(t, "length")
			}
			a := Axis{Name: string(rune('a' + k)), Joined: joined}
			for i := range length {
				a.Values = append(a.Values, fmt.Sprint(i))
			}
			s.Axes = append(s.Axes, a)
		}
		s.Repeat = rapid.Uint64Range(0, 2).Draw(t, "repeat")
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		template := ""
		for _, a := range s.Axes {
			if rapid.Bool().Draw(t, "named") {
				template += "{{." + a.Name + "}}-"
			}
		}
		r, _, err := s.restrict(template)
		if err != nil {
			t.Fatal(err)
		}
		some := map[string]bool{}
		for i := range r.Count() {
			text, _ := expand(template, r.Point(i))
			some[text] = true
		}
		points, all := map[string]bool{}, map[string]bool{}
		for i := range s.Count() {
			p := s.Point(i)
			points[fmt.Sprint(p)] = true
			for k := range s.Axes {
				if s.Axes[k].Joined && p[k].Value != p[k-1].Value {
					t.Fatalf("point %d is %v", i, p)
				}
			}
			text, _ := expand(template, p)
			all[text] = true
		}
		if uint64(len(points)) != s.Count() || len(some) != len(all) || uint64(len(some)) != r.Count() {
			t.Fatalf("%d of %d points differ; %s is %d names, %d by itself", len(points), s.Count(), template, len(all),
				len(some))
		}
	})
}

func TestJoinedThatDoNotFit(t *testing.T) {
	for want, s := range map[string]Sweep{
		"there is none": {Axes: []Axis{{Name: "a", Values: []string{"1"}, Joined: true}}},
		"axis a has 1 values, and axis b has 2": {Axes: []Axis{{Name: "a", Values: []string{"1"}},
			{Name: "b", Values: []string{"1", "2"}, Joined: true}}},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Files that rows of tables name are told, each once; a row cannot lead out.
func TestTableNames(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("module: a.wasm\nfiles: [all, '{{.c.dir}}/x-{{.n}}', '{{.c.dir}}/']\n"+
		"sweep: {c: {csv: c.csv}, n: [1, 2]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetTable("c", Table{CID: RawCID(nil), Size: 10, Rows: 3, Columns: []Column{{"dir", 5}}}); err != nil {
		t.Fatal(err)
	}
	dirs := []string{"a", "b", "a"}
	rows := func(_ *Table, i uint64) ([]string, error) { return []string{dirs[i]}, nil }
	got, err := f.TableNames(rows)
	if want := []string{"a/", "a/x-1", "a/x-2", "b/", "b/x-1", "b/x-2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	dirs[2] = "../a"
	_, err = f.TableNames(rows)
	if err == nil || !strings.Contains(err.Error(), "job.yaml:2:14: file name \"../a/x-1\" leaves") {
		t.Errorf("a row that leads out: %v", err)
	}
}
