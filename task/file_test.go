package task

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func mustParse(t *testing.T, src string) *File {
	t.Helper()
	f, err := ParseFile("job.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestInputNames(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"module: a.wasm\n", "[]"},
		{"module: a.wasm\nfiles: [b, a, b]\nstdin: c\n", "[a b c]"},
		{"module: a.wasm\nfiles: ['{{.x}}/in.txt']\nsweep: {x: [q, p], y: {from: 1, to: 1000000000}}\n",
			"[p/in.txt q/in.txt]"},
		{"module: a.wasm\nfiles: ['{{.y}}{{.x}}{{.y}}']\nsweep: {x: [q, p], y: {from: 1, to: 2}}\n", "[1p1 1q1 2p2 2q2]"},
		{"module: a.wasm\nstdin: '{{.trial}}'\nsweep: {repeat: 3}\n", "[0 1 2]"},
		{"module: a.wasm\nfiles: ['{{.x}}']\nsweep: {x: [a, a, b]}\n", "[a b]"},
	} {
		names, err := mustParse(t, test.src).InputNames()
		if got := fmt.Sprint(names); got != test.want || err != nil {
			t.Errorf("%q needs %s, %v; want %s", test.src, got, err, test.want)
		}
	}
}

func TestFileJob(t *testing.T) {
	f := mustParse(t, `module: a.wasm
args: ["{{.x}}"]
env: {B: "{{.trial}}", A: "{{.x}}"}
files: ["{{.x}}.txt", common.txt, "{{.x}}.txt"]
stdin: "in/{{.x}}"
sweep: {x: [p, q], repeat: 2}
`)
	inputs := make(map[string]FileRef)
	names, err := f.InputNames()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		inputs[name] = FileRef{CID: RawCID([]byte(name)), Size: int64(i)}
	}
	submitted := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	j, err := f.Job(RawCID(nil), inputs, "commons", submitted, make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	if !j.Submitted.Equal(submitted) || j.Submitted.Location() != time.UTC || j.Overlay != "commons" || j.Name != "a" {
		t.Errorf("got %+v", j)
	}
	inv, err := j.Expand(3)
	if err != nil {
		t.Fatal(err)
	}
	qtxt, common, in := inputs["q.txt"], inputs["common.txt"], inputs["in/q"]
	qtxt.Name, common.Name, in.Name = "q.txt", "common.txt", "in/q"
	want := Invocation{
		Params: []EnvVar{{"x", "q"}, {"trial", "1"}},
		Args:   []string{"q"},
		Env:    []EnvVar{{"A", "q"}, {"B", "1"}},
		Files:  []FileRef{common, qtxt},
		Stdin:  &in,
	}
	if !reflect.DeepEqual(inv, want) {
		t.Errorf("got  %+v\nwant %+v", inv, want)
	}
	if _, err := j.Expand(4); err == nil {
		t.Error("a task beyond the last was expanded")
	}
	delete(inputs, "in/p")
	if _, err := f.Job(RawCID(nil), inputs, "commons", submitted, make([]byte, NonceSize)); err == nil ||
		err.Error() != "job.yaml:5:8: file in/p: it has not been stored" {
		t.Errorf("error %v", err)
	}
}

// The job of a file stays as it is when the file is used again.
func TestFileJobSharesNothing(t *testing.T) {
	f := mustParse(t, exampleFile)
	inputs := map[string]FileRef{"scene.json": {CID: RawCID(nil)}}
	nonce := make([]byte, NonceSize)
	j, err := f.Job(RawCID(nil), inputs, "commons", time.Unix(0, 0), nonce)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := Encode(j)
	f.Args[0], f.Env[0].Value, f.Files[0], f.Outputs[0], nonce[0] = "x", "x", "x", "x", 1
	f.Sweep.Axes[0].Name, f.Sweep.Axes[1].Values[0] = "x", "x"
	if after, _ := Encode(j); !bytes.Equal(before, after) {
		t.Error("the job changed with its file")
	}
}

func TestDefaultFile(t *testing.T) {
	f := DefaultFile(`C:\bin\pi.wasm`, []string{"-n", "{{.n}}"})
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	j, err := f.Job(RawCID(nil), nil, "commons", time.Unix(0, 0), make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	inv, err := j.Expand(0)
	if err != nil || strings.Join(inv.Args, " ") != "-n {{.n}}" || j.Name != "pi" || j.Sweep.Count() != 1 {
		t.Errorf("got %+v of %+v, %v", inv, j, err)
	}
	f.Memory = 1
	var e *Error
	if err := f.Validate(); !errors.As(err, &e) || e.Line != 0 ||
		e.Error() != "memory of 1B is not between 64KiB and 4GiB" || e.Hint == "" {
		t.Errorf("error %#v", err)
	}
}

func TestErrorAt(t *testing.T) {
	f := mustParse(t, exampleFile)
	for where, want := range map[string]string{
		"module":             "job.yaml:2:9: x",
		"args[2]":            "job.yaml:3:32: x",
		"args[99]":           "job.yaml:3:7: x",
		"env.QUALITY":        "job.yaml:4:16: x",
		"sweep.tile":         "job.yaml:9:3: x",
		"sweep.tile.step":    "job.yaml:9:33: x",
		"sweep.tile.missing": "job.yaml:9:3: x",
		"":                   "job.yaml: x",
		"nowhere":            "job.yaml: x",
	} {
		if got := f.ErrorAt(where, "x", "").Error(); got != want {
			t.Errorf("ErrorAt(%q) is %q, want %q", where, got, want)
		}
	}
	if got, want := f.InputError("scene.json", "no such file", "").Error(),
		"job.yaml:5:9: file scene.json: no such file"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
