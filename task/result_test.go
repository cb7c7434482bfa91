package task

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func testResult() *Result {
	small := []byte("hello\n")
	return &Result{
		Task:    TaskID{JobID(sumCID(0x71, []byte("job"))), 42},
		Outcome: Completed,
		Outputs: []Output{
			{Name: "a/big.png", CID: RawCID([]byte("big")), Size: 1 << 30},
			{Name: "empty", CID: RawCID(nil)},
			{Name: Stdout, CID: RawCID(small), Size: int64(len(small)), Inline: small},
		},
		CPU:  3 * time.Second,
		Wall: 4 * time.Second,
	}
}

func TestResultRoundTrip(t *testing.T) {
	r := testResult()
	if err := r.Sign(testKey(1)); err != nil {
		t.Fatal(err)
	}
	b, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := Decode(b, &back); err != nil {
		t.Fatal(err)
	}
	if err := back.Verify(); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(&back, r) {
		t.Errorf("got %+v, want %+v", back, r)
	}
	if err := r.Sign(testKey(2)); err == nil {
		t.Error("signed another node's result")
	}
}

// Each of these was signed by the worker's own key: bounds hold for liars too.
func TestResultBounds(t *testing.T) {
	for name, spoil := range map[string]func(*Result){
		"no job":           func(r *Result) { r.Task.Job = "" },
		"a file for a job": func(r *Result) { r.Task.Job = JobID(RawCID(nil)) },
		"no outcome":       func(r *Result) { r.Outcome = OutcomeUnknown },
		"past outcomes":    func(r *Result) { r.Outcome = HostError + 1 },
		"completed with 1": func(r *Result) { r.ExitCode = 1 },
		"failed with 0":    func(r *Result) { r.Outcome = ExitFailure },
		"long message":     func(r *Result) { r.Message = strings.Repeat("x", MaxMessage+1) },
		"message no UTF-8": func(r *Result) { r.Message = "\xff" },
		"negative time":    func(r *Result) { r.CPU = -1 },
		"unsorted":         func(r *Result) { r.Outputs[0], r.Outputs[1] = r.Outputs[1], r.Outputs[0] },
		"twice":            func(r *Result) { r.Outputs[1] = r.Outputs[0] },
		"leaves":           func(r *Result) { r.Outputs[0].Name = "../a" },
		"negative size":    func(r *Result) { r.Outputs[0].Size = -1 },
		"no CID":           func(r *Result) { r.Outputs[0].CID = "" },
		"other content":    func(r *Result) { r.Outputs[2].Inline = []byte("HELLO\n") },
		"other size":       func(r *Result) { r.Outputs[2].Size++ },
		"not empty":        func(r *Result) { r.Outputs[1].CID = RawCID([]byte("x")) },
		"too many":         func(r *Result) { r.Outputs = make([]Output, MaxOutputs+1) },
		"large inline": func(r *Result) {
			b := make([]byte, MaxInline+1)
			r.Outputs[2] = Output{Stdout, RawCID(b), int64(len(b)), b}
		},
	} {
		r := testResult()
		spoil(r)
		if err := r.Sign(testKey(1)); err == nil {
			t.Errorf("%s: signed", name)
		}
		r.Worker = PeerIDOf(testKey(1).Public().(ed25519.PublicKey))
		if body, err := r.body(); err == nil {
			r.Signature = sign(testKey(1), resultDomain, body)
		}
		if err := r.Verify(); err == nil || errors.Is(err, ErrSignature) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestResultTampering(t *testing.T) {
	good := testResult()
	if err := good.Sign(testKey(1)); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Result){
		"index":        func(r *Result) { r.Task.Index++ },
		"outcome":      func(r *Result) { r.Outcome = Trapped },
		"message":      func(r *Result) { r.Message = "x" },
		"output":       func(r *Result) { r.Outputs = r.Outputs[1:] },
		"reads":        func(r *Result) { r.Reads = make([]byte, 32) },
		"cpu":          func(r *Result) { r.CPU++ },
		"wall":         func(r *Result) { r.Wall++ },
		"worker":       func(r *Result) { r.Worker = PeerIDOf(testKey(2).Public().(ed25519.PublicKey)) },
		"signature":    func(r *Result) { r.Signature = append([]byte{r.Signature[0] ^ 1}, r.Signature[1:]...) },
		"no signature": func(r *Result) { r.Signature = nil },
	} {
		r := *good
		spoil(&r)
		if err := r.Verify(); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDigest(t *testing.T) {
	base := testResult()
	if err := base.Sign(testKey(1)); err != nil {
		t.Fatal(err)
	}
	same := testResult()
	same.Worker, same.Message, same.CPU, same.Wall = "someone", "else", 1, 2
	same.Task.Index = 7
	same.Outputs[2].Inline = nil
	if same.Digest() != base.Digest() {
		t.Error("the digest depends on what replicas need not agree on")
	}
	for name, change := range map[string]func(*Result){
		"outcome":   func(r *Result) { r.Outcome = Trapped },
		"exit code": func(r *Result) { r.ExitCode = 1 },
		"name":      func(r *Result) { r.Outputs[0].Name = "b" },
		"cid":       func(r *Result) { r.Outputs[0].CID = RawCID(nil) },
		"size":      func(r *Result) { r.Outputs[0].Size++ },
		"fewer":     func(r *Result) { r.Outputs = r.Outputs[:2] },
	} {
		r := testResult()
		change(r)
		if r.Digest() == base.Digest() {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	// Digests of different versions are compared: this one is for ever.
	if got, want := base.Digest().String(),
		"4ef5b4119928f7430f9f98af5d9ab2d360958259533c58f24624e8d6e452d6b2"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestOutcomeText(t *testing.T) {
	for o := OutcomeUnknown; o <= HostError; o++ {
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var back Outcome
		if err := json.Unmarshal(b, &back); err != nil || back != o {
			t.Errorf("%v is %s is %v, %v", o, b, back, err)
		}
		if want := o >= ExitFailure && o != Interrupted && o != HostError; o.OwnFault() != want {
			t.Errorf("%v.OwnFault() = %v", o, o.OwnFault())
		}
	}
	if got := fmt.Sprint(Outcome(200), Completed, HostError); got != "unknown completed host-error" {
		t.Error(got)
	}
	var o Outcome
	if err := json.Unmarshal([]byte(`"fine"`), &o); err == nil {
		t.Error("an outcome of no name was read")
	}
}

func TestClipMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(string(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes")),
			rapid.IntRange(0, 200).Draw(t, "times"))
		r := testResult()
		r.Message = ClipMessage(s)
		if err := r.Sign(testKey(1)); err != nil {
			t.Fatal(err)
		}
	})
}
