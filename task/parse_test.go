package task

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// exampleFile is the example of the manual.
const exampleFile = `name: render
module: render.wasm            # WASI preview 1
args: ["-scene", "scene.json", "-tile", "{{.tile}}"]
env: {QUALITY: "{{.quality}}"}
files: [scene.json]            # read-only at / inside the sandbox
stdin: ""                      # a file
outputs: [stdout, "*.png"]     # files written under / that are results
sweep:                         # axes; the job is their product
  tile: {from: 0, to: 63, step: 1}
  quality: [low, high]
  repeat: 1                    # Monte-Carlo trials per point, in {{.trial}}
work: 90s                      # guess for one task on a reference core; learnt if absent
memory: 256MiB
replicas: 1                    # runs that must agree, byte for byte
retries: 3                     # for tasks that fail by their own fault
deadline: 12h
priority: 0
checkpoint: auto               # auto | off | 5m
`

func TestParseExample(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte(exampleFile))
	if err != nil {
		t.Fatal(err)
	}
	f.places = nil
	got := fmt.Sprintf("%+v", *f)
	want := "{Name:render Module:render.wasm Args:[-scene scene.json -tile {{.tile}}] " +
		"Env:[{Name:QUALITY Value:{{.quality}}}] Files:[scene.json] Stdin: Outputs:[stdout *.png] " +
		"Sweep:{Axes:[{Name:tile Values:[] From:0 Step:1 Count:64 Decimals:0 Table:<nil> Joined:false " +
		"group:<nil> columns:[]} {Name:quality Values:[low high] From:0 Step:0 Count:0 Decimals:0 Table:<nil> " +
		"Joined:false group:<nil> columns:[]}] Repeat:1 groups:[]} " +
		"Sources:map[] Work:1m30s Memory:268435456 Replicas:1 Retries:3 Deadline:12h0m0s Timeout:0s Priority:0 " +
		"Checkpoint:auto Class: Weight:0 Slots:0 Verify:off VerifyOff:false Auditors:[] Trials:<nil> Stages:[] " +
		"source:job.yaml places:map[]}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseClass(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("module: a.wasm\nclass: tiles\nweight: 2\n"))
	if err != nil || f.Class != "tiles" || f.Weight != 2 || f.draft().Class != "tiles" || f.draft().Weight != 2 {
		t.Errorf("got %+v (%v)", f, err)
	}
}

func TestParseDefaults(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("module: ../bin/pi.wasm\ncheckpoint: 5m\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "pi" || f.Memory != 256<<20 || f.Replicas != 1 || f.Retries != 3 || fmt.Sprint(f.Outputs) != "[stdout]" ||
		f.Sweep.Count() != 1 || f.Checkpoint != (Checkpoint{Every: 5 * time.Minute}) {
		t.Errorf("got %+v", f)
	}
}

// Text is what is written, whatever YAML takes it for.
func TestParseKeepsText(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte(`module: a.wasm
args: [1, 0x10, 1.50, yes, true, "quo\"ted", 'it''s', .inf, -0]
env:
  B: 007
  A: |
    two
    lines
sweep: {x: [1e3, 01, off]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(f.Args, "|"), `1|0x10|1.50|yes|true|quo"ted|it's|.inf|-0`; got != want {
		t.Errorf("args %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%q", f.Env), `[{"A" "two\nlines\n"} {"B" "007"}]`; got != want {
		t.Errorf("env %s, want %s", got, want)
	}
	if got, want := strings.Join(f.Sweep.Axes[0].Values, "|"), "1e3|01|off"; got != want {
		t.Errorf("values %s, want %s", got, want)
	}
}

// Every mistake is shown at its place, with a way out: testdata/errors.txt.
func TestParseErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors.txt", func(t *testing.T, d *datadriven.TestData) string {
		_, err := ParseFile("job.yaml", []byte(d.Input))
		var e *Error
		if !errors.As(err, &e) {
			d.Fatalf(t, "error %v of type %T", err, err)
		}
		if e.Line < 1 || e.Column < 1 || e.Hint == "" {
			d.Fatalf(t, "no place or no hint: %+v", e)
		}
		return e.Error() + "\n" + "hint: " + e.Hint + "\n"
	})
}

// Files made to cost time or memory are refused, or cost little.
func TestParseHostile(t *testing.T) {
	stairs := ""
	for i := range 1000 {
		stairs += strings.Repeat(" ", i) + "a:\n"
	}
	for name, src := range map[string]string{
		"too large":   "args: [" + strings.Repeat("a,", MaxFile/2) + "]",
		"brackets":    strings.Repeat("[", 50_000),
		"braces":      strings.Repeat("{a: ", 50_000),
		"dashes":      strings.Repeat("- ", 50_000),
		"colons":      strings.Repeat("a: ", 50_000),
		"stairs":      stairs,
		"aliases":     "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
		"documents":   strings.Repeat("---\na: b\n", 10_000),
		"not UTF-8":   "module: a.wasm\nname: \xff\n",
		"zero byte":   "module: a.wasm\nname: a\x00b\n",
		"UTF-16":      "\xff\xfem\x00o\x00d\x00",
		"many values": "module: a.wasm\nsweep:\n  a: [" + strings.Repeat("1,", MaxValues) + "1]\n",
		"many axes":   "module: a.wasm\nsweep:\n" + manyAxes(MaxAxes+1),
		"long value":  "module: a.wasm\nsweep: {a: [" + strings.Repeat("x", MaxValue+1) + "]}\n",
		"args too big": "module: a.wasm\nargs: ['" + strings.Repeat("{{.a}}", 1000) + "']\nsweep: {a: [" +
			strings.Repeat("x", MaxValue) + "]}\n",
	} {
		_, err := ParseFile("job.yaml", []byte(src))
		var e *Error
		if !errors.As(err, &e) || e.Hint == "" || len(e.Error()) > 300 {
			t.Errorf("%s: error %.400v", name, err)
		}
	}
}

// manyAxes writes n axes of one value each.
func manyAxes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  a%d: [0]\n", i)
	}
	return b.String()
}

// The most that is allowed is read: so many values, axes and a byte order mark.
func TestParseLimits(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("\uFEFFmodule: a.wasm\nsweep:\n"+manyAxes(MaxAxes-1)+
		"  v: ["+strings.Repeat("1,", MaxValues-1)+"1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Sweep.Count() != MaxValues {
		t.Errorf("%d tasks", f.Sweep.Count())
	}
}

// Errors count columns in characters, as editors do.
func TestParseColumns(t *testing.T) {
	_, err := ParseFile("ünï.yaml", []byte("module: a.wasm\nargs: [\"äöü\", \"{{.x}}\"]\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "ünï.yaml:2:15: ") {
		t.Errorf("error %v", err)
	}
	_, err = ParseFile("job.yaml", []byte("module: a.wasm\r\nmemory: x\r\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "job.yaml:2:9: ") {
		t.Errorf("error %v", err)
	}
}
