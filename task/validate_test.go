package task

import (
	"strings"
	"testing"
	"time"
)

// What a stranger's record may hold, but no job file could: each is refused,
// and the place is named.
func TestJobValidate(t *testing.T) {
	ref := func(name string) FileRef { return FileRef{Name: name, CID: RawCID(nil)} }
	for name, test := range map[string]struct {
		spoil func(*Job)
		want  string // that the error begins with
	}{
		"no overlay":        {func(j *Job) { j.Overlay = "" }, "overlay: "},
		"long overlay":      {func(j *Job) { j.Overlay = strings.Repeat("x", MaxName+1) }, "overlay: "},
		"no module":         {func(j *Job) { j.Module = "" }, "module: "},
		"short nonce":       {func(j *Job) { j.Nonce = j.Nonce[1:] }, "nonce: "},
		"no time":           {func(j *Job) { j.Submitted = Time{} }, "submitted: "},
		"far time":          {func(j *Job) { j.Submitted = Time{time.Unix(1<<40, 0)} }, "submitted: "},
		"unsorted env":      {func(j *Job) { j.Env = []EnvVar{{"B", ""}, {"A", ""}} }, "env.A: "},
		"repeated env":      {func(j *Job) { j.Env = []EnvVar{{"A", ""}, {"A", ""}} }, "env.A: "},
		"many args":         {func(j *Job) { j.Args = make([]string, MaxArgs+1) }, "args: "},
		"many env":          {func(j *Job) { j.Env = make([]EnvVar, MaxEnv+1) }, "env: "},
		"many files":        {func(j *Job) { j.Files = make([]string, MaxFiles+1) }, "files: "},
		"many outputs":      {func(j *Job) { j.Outputs = make([]string, MaxPatterns+1) }, "outputs: "},
		"arg not UTF-8":     {func(j *Job) { j.Args[0] = "\xff" }, "args[0]: "},
		"arg with zero":     {func(j *Job) { j.Args[0] = "a\x00b" }, "args[0]: "},
		"long args":         {func(j *Job) { j.Args[1] = strings.Repeat("x", MaxExpanded) }, "args[1]: "},
		"args that grow":    {growingArgs, "args[0]: "},
		"arg of no axis":    {func(j *Job) { j.Args[0] = "{{.x}}" }, "args[0]: "},
		"stdin not input":   {func(j *Job) { j.Stdin = "other.txt" }, "stdin: "},
		"file not input":    {func(j *Job) { j.Files = append(j.Files, "{{.tile}}") }, "files[1]: "},
		"long file":         {func(j *Job) { j.Files[0] = strings.Repeat("x", maxTemplate+1) }, "files[0]: "},
		"unsorted inputs":   {func(j *Job) { j.Inputs = []FileRef{ref("z"), ref("scene.json")} }, "inputs: "},
		"repeated inputs":   {func(j *Job) { j.Inputs = append(j.Inputs, j.Inputs[0]) }, "inputs: "},
		"input leaves":      {func(j *Job) { j.Inputs = []FileRef{ref("../x"), ref("scene.json")} }, "inputs: "},
		"input without CID": {func(j *Job) { j.Inputs[0].CID = "" }, "inputs: "},
		"input of -1 bytes": {func(j *Job) { j.Inputs[0].Size = -1 }, "inputs: "},
		"many inputs":       {func(j *Job) { j.Inputs = make([]FileRef, MaxInputs+1) }, "inputs: "},
		"file and folder": {func(j *Job) { j.Inputs = []FileRef{ref("a"), ref("a-b"), ref("a/b"), ref("scene.json")} },
			"inputs: "},
		"no memory":       {func(j *Job) { j.Memory = 0 }, "memory: "},
		"much memory":     {func(j *Job) { j.Memory = MaxMemory + 1 }, "memory: "},
		"no replicas":     {func(j *Job) { j.Replicas = 0 }, "replicas: "},
		"off and often":   {func(j *Job) { j.Checkpoint = Checkpoint{Off: true, Every: time.Minute} }, "checkpoint: "},
		"often":           {func(j *Job) { j.Checkpoint.Every = 1 }, "checkpoint: "},
		"negative work":   {func(j *Job) { j.Work = -1 }, "work: "},
		"long deadline":   {func(j *Job) { j.Deadline = MaxDuration + 1 }, "deadline: "},
		"axis of nothing": {func(j *Job) { j.Sweep.Axes[0].Count = 0 }, "sweep.tile: "},
	} {
		j := testJob()
		test.spoil(j)
		err := j.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s...", name, err, test.want)
		}
	}
	if err := testJob().Validate(); err != nil {
		t.Error(err)
	}
}

// growingArgs makes a small record whose tasks would get gigabytes.
func growingArgs(j *Job) {
	j.Sweep.Axes = []Axis{{Name: "tile", Values: []string{strings.Repeat("x", MaxValue)}}}
	j.Args = []string{strings.Repeat("{{.tile}}", 300)}
	j.Env = nil
}
