package task

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"
)

func refNames(refs []FileRef) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.Name)
	}
	return out
}

// jobReading returns a valid job of a job file whose inputs have their names as content.
func jobReading(t *testing.T, text string, names ...string) *Job {
	t.Helper()
	f, err := ParseFile("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]FileRef{}
	for _, n := range names {
		inputs[n] = FileRef{CID: RawCID([]byte(n)), Size: int64(len(n))}
	}
	j, err := f.Job(RawCID([]byte("module")), inputs, "lab", time.Unix(1e9, 0), make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestCommonInputs(t *testing.T) {
	const sweep = "module: a.wasm\nsweep: {n: [1, 2]}\n"
	for name, c := range map[string]struct {
		text          string
		common, first []string
	}{
		"of all and its own": {"files: [b, '{{.n}}', a]\n", []string{"a", "b"}, []string{"1", "a", "b"}},
		"standard input":     {"files: ['{{.n}}']\nstdin: a\n", []string{"a"}, []string{"1", "a"}},
		"its own stdin":      {"files: [a, a]\nstdin: '{{.n}}'\n", []string{"a"}, []string{"1", "a"}},
		"by the trial":       {"files: ['{{.trial}}']\n", nil, []string{"0"}},
		"braces":             {"files: ['{{\"{{\"}}']\n", []string{"{{"}, []string{"{{"}},
		"none":               {"", nil, nil},
	} {
		j := jobReading(t, sweep+c.text, "a", "b", "0", "1", "2", "{{")
		common, err := j.CommonInputs()
		if err != nil || !slices.Equal(refNames(common), c.common) {
			t.Errorf("%s: common are %q, %v; want %q", name, refNames(common), err, c.common)
		}
		inv, err := j.Expand(0)
		if err != nil || !slices.Equal(refNames(inv.Reads()), c.first) {
			t.Errorf("%s: the first task reads %q, %v; want %q", name, refNames(inv.Reads()), err, c.first)
		}
	}
}

func TestReadsBy(t *testing.T) {
	j := jobReading(t, "module: a.wasm\nsweep: {n: [1, 2], d: [x, y]}\nfiles: [b, '{{.n}}', '{{.d}}/', '{{.n}}']\n",
		"b", "1", "2", "x/1", "x/2", "x/3", "x/4", "x/5", "y/1")
	swept := j.SweptFiles()
	if want := []string{"{{.n}}", "{{.d}}/", "{{.n}}"}; !slices.Equal(swept, want) {
		t.Errorf("%q, want %q", swept, want)
	}
	for i, want := range map[uint64][]string{0: {"1", "x/1", "x/2", "x/3", "x/4"}, 3: {"2", "y/1"}, 4: nil} {
		if got := refNames(j.ReadsBy(swept[:2], i)); !slices.Equal(got, want) {
			t.Errorf("task %d: %q, want %q", i, got, want)
		}
	}
}

// A run goes on from states alone that were made of the files that it reads, and signs so.
func TestMadeOfOthers(t *testing.T) {
	j := stagedJob(t, pipeline)
	first, last := uint64(0), j.Tasks()-1
	name, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	link := func(reads []byte) Link { return Link{Fuel: 1, Voucher: Voucher{Reads: reads}} }
	for _, tt := range []struct {
		index  uint64
		verify bool
		chain  []Link
		want   bool
	}{
		{last, true, nil, true},
		{last, true, []Link{link(name), link(name)}, true},
		{last, true, []Link{link(name), link(other)}, false},
		{last, true, []Link{link(nil)}, false},
		{last, false, []Link{link(other)}, true},
		{first, true, []Link{link(nil)}, true},
	} {
		if j.Verify = nil; tt.verify {
			j.Verify = &Verify{}
		}
		if got := MadeOf(j, tt.index, tt.chain, name); got != tt.want {
			t.Errorf("task %d, checked %v, %v: %v", tt.index, tt.verify, tt.chain, got)
		}
		r := &Result{Task: TaskID{Index: tt.index}, Outcome: Completed, Reads: name,
			Trail: &Trail{Pass: 1, Fuel: 1, Began: tt.chain}}
		if err := j.CheckResult(r); (err == nil) != tt.want {
			t.Errorf("task %d, checked %v, %v: %v", tt.index, tt.verify, tt.chain, err)
		}
	}
}

// What was read is part of what a worker vouches for.
func TestVouchedReads(t *testing.T) {
	key := testKey(1)
	id := TaskID{Job: JobID(RawCID([]byte("job"))), Index: 3}
	receipt := &Receipt{Leader: PeerIDOf(key.Public().(ed25519.PublicKey)), Epoch: 1, Seq: 1, Issued: 1}
	if err := SignReceipts(key, []Leased{{Task: id, Worker: receipt.Leader, Receipt: receipt}}); err != nil {
		t.Fatal(err)
	}
	said := State{Task: id, Fuel: 1, Hash: make([]byte, 32), Reads: bytes.Repeat([]byte{1}, 32)}
	v, err := Vouch(key, receipt, said)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(said); err != nil {
		t.Error(err)
	}
	for _, reads := range [][]byte{nil, {1}, bytes.Repeat([]byte{2}, 32)} {
		w := *v
		if w.Reads = reads; w.Verify(said) == nil {
			t.Errorf("it is believed to be of %x", reads)
		}
	}
	said.Bad, said.Fuel, said.Hash, said.CID = true, 0, nil, RawCID(nil)
	if _, err := Vouch(key, receipt, said); err == nil {
		t.Error("a bad state says what was read")
	}
}
