package message_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestKinds: each kind of message has a name of its own, that of its field; any other kind with
// it makes a frame bad.
func TestKinds(t *testing.T) {
	kinds := reflect.TypeFor[message.Message]()
	seen := map[string]bool{}
	for i := range kinds.NumField() {
		var m message.Message
		reflect.ValueOf(&m).Elem().Field(i).Set(reflect.New(kinds.Field(i).Type.Elem()))
		if got, want := m.Kind(), strings.ToLower(kinds.Field(i).Name); got != want {
			t.Errorf("a message of %s is called %q", want, got)
		}
		seen[m.Kind()] = true
		for k := range kinds.NumField() {
			two := m
			if k != i {
				reflect.ValueOf(&two).Elem().Field(k).Set(reflect.New(kinds.Field(k).Type.Elem()))
				if b, err := task.Encode([]message.Message{two}); err != nil || !refused(b, "2 kinds at once") {
					t.Errorf("a message of %s and %s is taken (%v)", m.Kind(), kinds.Field(k).Name, err)
				}
			}
		}
	}
	for _, m := range schedtest.EveryMessage(t) {
		delete(seen, m.Kind())
	}
	if len(seen) > 0 {
		t.Errorf("there is no example of %v", seen)
	}
	if got := new(message.Message).Kind(); got != "nothing" {
		t.Errorf("no message is called %q", got)
	}
}

// refused reports whether a frame is, for that reason.
func refused(frame []byte, why string) bool {
	_, err := message.DecodeFrame(frame)
	return errors.Is(err, message.ErrFrame) && strings.Contains(err.Error(), why)
}

// TestOneMoreIsRefused: of each list of each message one more than its bound says makes a frame
// bad, for that reason.
func TestOneMoreIsRefused(t *testing.T) {
	kinds := reflect.TypeFor[message.Message]()
	lists := 0
	for i := range kinds.NumField() {
		kind := kinds.Field(i).Type.Elem()
		for k := range kind.NumField() {
			most, err := strconv.Atoi(kind.Field(k).Tag.Get("most"))
			if err != nil || kind.Field(k).Type.Kind() != reflect.Slice {
				continue
			}
			lists++
			var m message.Message
			v := reflect.New(kind)
			v.Elem().Field(k).Set(reflect.MakeSlice(kind.Field(k).Type, most+1, most+1))
			reflect.ValueOf(&m).Elem().Field(i).Set(v)
			b, err := task.Encode([]message.Message{m})
			if err != nil {
				t.Fatal(err)
			}
			if want := strconv.Itoa(most+1) + ", the most is " + strconv.Itoa(most); !refused(b, want) {
				_, err := message.DecodeFrame(b)
				t.Errorf("%s.%s: %v, want %q", kind.Name(), kind.Field(k).Name, err, want)
			}
		}
	}
	if lists < 20 {
		t.Errorf("%d lists were looked at", lists)
	}
}

// TestTextsArePrintable: what a peer writes for people has no line of its own, nor what moves a
// terminal's cursor, wherever it stands; and no more than fits.
func TestTextsArePrintable(t *testing.T) {
	evil := "a\x1b[2J\nb\u202e" + strings.Repeat("x", 2*task.MaxMessage)
	names := []message.AttemptName{{Reason: evil}}
	for name, m := range map[string]message.Message{
		"state":  {Progress: &message.Progress{Summary: message.JobSummary{State: evil}}},
		"reason": {Progress: &message.Progress{Tasks: []message.TaskSummary{{Reason: evil}}}},
		"attempt": {Progress: &message.Progress{Tasks: []message.TaskSummary{{Attempts: []message.AttemptLog{
			{Outcome: evil, Reason: evil}}}}}},
		"error":   {Accepted: &message.Accepted{Error: evil}},
		"refusal": {Report: &message.Report{Refused: []message.Refusal{{Reason: evil}}}},
		"ended":   {Ack: &message.Ack{Ended: names}},
		"dropped": {Ack: &message.Ack{Drop: names}},
	} {
		b, err := task.Encode([]message.Message{m})
		if err != nil {
			t.Fatal(err)
		}
		got, err := message.DecodeFrame(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := task.Encode(got)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(again, []byte("\nb")) || bytes.Contains(again, []byte("\x1b[2J")) ||
			bytes.Contains(again, []byte("\u202e")) {
			t.Errorf("%s: it reads %q", name, again)
		}
		if most := 2*task.MaxMessage + 200; name != "error" && len(again) > most {
			t.Errorf("%s: %d bytes of it are left", name, len(again))
		}
	}
}

// TestFramesAreFew: whatever the sizes, messages come out in order, in frames that are read, and
// no two frames next to each other would have fitted into one.
func TestFramesAreFew(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		var messages []message.Message
		for range r.IntN(9) {
			part := []int{1, 3, 9, 27, 10_000}[r.IntN(5)]
			messages = append(messages, message.Message{Accepted: &message.Accepted{
				Error: strings.Repeat("x", message.MaxFrame/part-40)}})
		}
		frames, err := message.PackFrames(messages)
		if err != nil {
			t.Fatal(err)
		}
		var got []message.Message
		for i, f := range frames {
			some, err := message.DecodeFrame(f)
			if err != nil || len(some) == 0 {
				t.Fatalf("seed %d: frame %d of %d messages: %v", seed, i, len(some), err)
			}
			if got = append(got, some...); i > 0 && len(f)+len(frames[i-1]) <= message.MaxFrame {
				t.Fatalf("seed %d: frames of %d and %d bytes would be one", seed, len(frames[i-1]), len(f))
			}
		}
		if !reflect.DeepEqual(got, messages) {
			t.Fatalf("seed %d: %d messages became others", seed, len(messages))
		}
	}
}

// TestOneTooLargeIsLeftOut: a message that no frame holds costs none of the others, and is told.
func TestOneTooLargeIsLeftOut(t *testing.T) {
	small := message.Message{Ack: &message.Ack{Epoch: 1}}
	large := message.Message{Accepted: &message.Accepted{Error: strings.Repeat("x", message.MaxFrame)}}
	frames, err := message.PackFrames([]message.Message{small, large, small})
	if !errors.Is(err, message.ErrFrame) || !strings.Contains(err.Error(), "message 1") || len(frames) != 1 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	if got, err := message.DecodeFrame(frames[0]); err != nil || len(got) != 2 {
		t.Errorf("%d messages are left, %v", len(got), err)
	}
}

// TestTaskOrder: tasks are ordered by job, then index, whatever a map says.
func TestTaskOrder(t *testing.T) {
	want := []task.TaskID{{Job: "a", Index: 2}, {Job: "a", Index: 10}, {Job: "b"}, {Job: "b", Index: 1}}
	m := map[task.TaskID]bool{}
	for _, id := range want {
		m[id] = true
	}
	if got := message.SortedTasks(m); !slices.Equal(got, want) {
		t.Errorf("the order is %v", got)
	}
}

// TestDigestsAreShort: what stands for a copy of a job is the beginning of its digest, and says
// whether two copies differ.
func TestDigestsAreShort(t *testing.T) {
	key, _ := schedtest.Identity(1)
	l := ledger.New()
	j, err := l.Add(schedtest.Job(t, key, 3, nil))
	if err != nil {
		t.Fatal(err)
	}
	before, whole := message.ShortDigest(j), j.Digest()
	if !bytes.Equal(before[:], whole[:message.DigestLen]) {
		t.Error("it is another digest")
	}
	if j.Facts.Done.Add(1); message.ShortDigest(j) == before {
		t.Error("what is delivered does not change it")
	}
}

// TestSizes: what the outputs of a result take is told by their content.
func TestSizes(t *testing.T) {
	r := task.Result{Outputs: []task.Output{{CID: "a", Size: 3}, {CID: "b"}, {CID: "a", Size: 3}}}
	if got := message.SizesOf(&r); len(got) != 2 || got["a"] != 3 || got["b"] != 0 {
		t.Errorf("sizes are %v", got)
	}
}
