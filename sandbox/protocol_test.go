package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"godwit/task"
)

func TestFramesRoundTrip(t *testing.T) {
	for _, body := range []string{"", "small", strings.Repeat("large", smallBody)} {
		var buf bytes.Buffer
		sent := response{Outcome: task.ExitFailure, ExitCode: 3, Outputs: []outputSize{{"a", 1}}}
		if err := writeFrame(&buf, sent, []byte(body[:len(body)/2]), []byte(body[len(body)/2:])); err != nil {
			t.Fatal(err)
		}
		var got response
		b, err := readFrame(bufio.NewReader(&buf), &got, 1<<20)
		if err != nil || string(b) != body || !reflect.DeepEqual(got, sent) {
			t.Errorf("body of %d: got %+v, %d bytes, %v", len(body), got, len(b), err)
		}
	}
}

func TestFramesAreBounded(t *testing.T) {
	frame := func(header, body uint64) []byte {
		b := make([]byte, 12)
		for i := range 4 {
			b[i] = byte(header >> (8 * i))
		}
		for i := range 8 {
			b[4+i] = byte(body >> (8 * i))
		}
		return append(b, "{}"...)
	}
	for name, b := range map[string][]byte{
		"header": frame(maxHeader+1, 0),
		"body":   frame(2, 101),
		"vast":   frame(2, 1<<63),
		"cut":    frame(2, 100),
		"short":  frame(0, 0)[:7],
		"json":   frame(1, 0),
	} {
		if _, err := readFrame(bufio.NewReader(bytes.NewReader(b)), &response{}, 100); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestHostileAnswers: what a child says is checked against what was asked.
func TestHostileAnswers(t *testing.T) {
	asked := Task{Outputs: []string{"stdout", "*.png"}, Limits: Limits{}.withDefaults()}
	cases := map[string]struct {
		r    response
		body string
		ok   bool
	}{
		"good": {response{Outcome: task.Completed, Outputs: []outputSize{{"a.png", 1}, {"stdout", 2}}}, "abc",
			true},
		"no outcome":    {response{}, "", false},
		"parent's own":  {response{Outcome: task.TimedOut}, "", false},
		"unknown":       {response{Outcome: 99}, "", false},
		"too short":     {response{Outcome: task.Completed, Outputs: []outputSize{{"a.png", 4}}}, "abc", false},
		"too long":      {response{Outcome: task.Completed, Outputs: []outputSize{{"a.png", 1}}}, "abc", false},
		"negative":      {response{Outcome: task.Completed, Outputs: []outputSize{{"a.png", -1}}}, "", false},
		"not asked for": {response{Outcome: task.Completed, Outputs: []outputSize{{"passwd", 0}}}, "", false},
		"leaves the root": {response{Outcome: task.Completed, Outputs: []outputSize{{"..png", 0}, {"../x.png", 0}}}, "",
			false},
		"twice": {response{Outcome: task.Completed, Outputs: []outputSize{{"a.png", 0}, {"a.png", 0}}}, "", false},
		"many":  {response{Outcome: task.Completed, Outputs: make([]outputSize, task.MaxOutputs+1)}, "", false},
	}
	for name, c := range cases {
		if rep, err := c.r.report(asked, []byte(c.body)); (err == nil) != c.ok {
			t.Errorf("%s: got %+v, %v", name, rep, err)
		}
	}
	loud := response{Outcome: task.Trapped, Message: strings.Repeat("é\n", 999), CPU: -1, PeakMemory: 1 << 60}
	rep, err := loud.report(asked, nil)
	if err != nil || len(rep.Message) > task.MaxMessage || strings.Contains(rep.Message, "\n") || rep.CPU != 0 ||
		rep.PeakMemory > asked.Limits.Memory {
		t.Errorf("got %+v, %v", rep, err)
	}
}

func FuzzAnswer(f *testing.F) {
	var good bytes.Buffer
	end := response{Outcome: task.Completed, Outputs: []outputSize{{"stdout", 2}}}
	if err := writeFrame(&good, event{End: &end}, []byte("ok")); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add(append([]byte("\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), `{"end":{"message":"old"}}`+" "...))
	asked := Task{Outputs: []string{"stdout", "*"}, Limits: Limits{}.withDefaults()}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e event
		body, err := readFrame(bufio.NewReader(bytes.NewReader(b)), &e, 1<<20)
		if err != nil || e.End == nil {
			return
		}
		rep, err := e.End.report(asked, body)
		if err != nil {
			return
		}
		n := 0
		for _, o := range rep.Outputs {
			n += len(o.Data)
		}
		if n != len(body) || len(rep.Message) > task.MaxMessage {
			t.Fatalf("%d bytes of %d, message of %d", n, len(body), len(rep.Message))
		}
	})
}

// FuzzRequest feeds a child's reader.
func FuzzRequest(f *testing.F) {
	var good bytes.Buffer
	if err := writeFrame(&good, request{Run: &runReq{Name: "job/1"}}); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var r request
		body, err := readFrame(bufio.NewReader(bytes.NewReader(b)), &r, 1<<20)
		if err == nil && len(b) < 12 {
			t.Fatal(io.ErrUnexpectedEOF)
		}
		if err != nil || len(b) > 1<<10 { // what is escaped when it is encoded may take too long a header
			return
		}
		var once, twice bytes.Buffer
		if err := writeFrame(&once, r, body); err != nil {
			t.Fatal(err)
		}
		var back request
		data, err := readFrame(bufio.NewReader(bytes.NewReader(once.Bytes())), &back, 1<<20)
		if err == nil {
			err = writeFrame(&twice, back, data)
		}
		if err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%+v came back as %+v (%v)", r, back, err)
		}
	})
}
