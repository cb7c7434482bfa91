package sandbox

import (
	"reflect"
	"testing"
	"time"

	"godwit/task"
)

// fullRun is a run of which each field is set.
func fullRun() *runReq {
	return &runReq{Name: "job/1", Module: "module/x", Sum: []byte{1, 2}, Args: []string{"a", "\xff", ""},
		Env: []task.EnvVar{{Name: "N", Value: "v"}}, Files: []fileReq{{"f", "k"}, {"g", "l"}}, Stdin: "s",
		Outputs: []string{"*"}, Limits: Limits{1, 2, 3, 4, time.Second}, Off: true, Saves: true, FreezeAt: 1 << 60,
		Staged: true, ThawEvery: 5, Spacing: 6, Meets: true, Hash: true, Keeps: true, Unkept: true,
		Tell: true, Ready: true, Compilers: 2, FuelEvery: -time.Second}
}

// fullEnd is an end of which each field is set.
func fullEnd() *response {
	return &response{
		Outcome: task.HostError, ExitCode: 1<<32 - 1, Message: "m",
		Outputs: []outputSize{{"o", -1}, {"p", 1 << 40}}, CPU: -5, PeakMemory: 7, Fuel: 8, Hash: []byte{9},
		Restore: 10, Refused: "r", TooDeep: true,
	}
}

// allSet reports which field of a struct has its zero value: a field that is added here and
// forgotten in fields would be lost on its way.
func allSet(t *testing.T, v any) {
	t.Helper()
	for i, s := 0, reflect.ValueOf(v).Elem(); i < s.NumField(); i++ {
		if s.Field(i).IsZero() {
			t.Errorf("%s.%s is not tried", s.Type(), s.Type().Field(i).Name)
		}
	}
}

// What is packed comes back, whole or empty; cut short, or with more behind it, it is refused.
func TestPacked(t *testing.T) {
	allSet(t, fullRun())
	allSet(t, fullEnd())
	for _, r := range []*runReq{{}, fullRun()} {
		b := packed(request{Run: r})
		var back request
		if is, err := unpack(b, &back); !is || err != nil || !reflect.DeepEqual(back.Run, r) {
			t.Errorf("%+v came back as %+v, %v, %v", r, back.Run, is, err)
		}
		for n := 1; n < len(b); n++ {
			if is, err := unpack(b[:n], &request{}); !is || err == nil {
				t.Fatalf("%d of %d bytes were taken for a run", n, len(b))
			}
		}
		if _, err := unpack(append(b, 0), &request{}); err == nil {
			t.Error("a run with a byte behind it was taken")
		}
		if is, _ := unpack(b, &event{}); is {
			t.Error("a request was taken for an event")
		}
	}
	for _, r := range []*response{{}, fullEnd()} {
		b := packed(event{End: r})
		var back event
		if is, err := unpack(b, &back); !is || err != nil || !reflect.DeepEqual(back.End, r) {
			t.Errorf("%+v came back as %+v, %v, %v", r, back.End, is, err)
		}
		for n := 1; n < len(b); n++ {
			if is, err := unpack(b[:n], &event{}); !is || err == nil {
				t.Fatalf("%d of %d bytes were taken for an end", n, len(b))
			}
		}
	}
}

// TestPackedIsBounded: a child that says that there is much is not believed before it is there.
func TestPackedIsBounded(t *testing.T) {
	vast := packer{b: []byte{packedEnd}}
	n := uint64(0)
	vast.number(&n)
	vast.number(&n)
	for n = range uint64(3) { // of a message, and of outputs
		b := append([]byte(nil), vast.b...)
		if n == 1 {
			b = append(b, 0)
		}
		b = append(b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
		if n == 2 { // as many as there are bytes, and more than a task may have
			b = append(append([]byte(nil), vast.b...), 0)
			p := packer{b: b}
			p.length(task.MaxOutputs + 2)
			b = append(p.b, make([]byte, 2*(task.MaxOutputs+2)+16)...)
		}
		var e event
		allocated := testing.AllocsPerRun(1, func() { _, _ = unpack(b, &e) })
		if is, err := unpack(b, &e); !is || err == nil || allocated > 8 {
			t.Errorf("%d: %v, %v, %v allocations", n, is, err, allocated)
		}
	}
	wide := packer{b: []byte{packedEnd}}
	n = 1 << 20 // no outcome
	wide.number(&n)
	if _, err := unpack(append(wide.b, make([]byte, 12)...), &event{}); err == nil {
		t.Error("an outcome that does not fit was taken")
	}
}
