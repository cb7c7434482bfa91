package caller

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"
)

// TestCaller: two callers meet as they are told, and send, and say what came of it.
func TestCaller(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begin := func(seed byte) (tell func(Order) Answer, first Answer, end func()) {
		in, orders := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Seed: seed, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}, in, out)
		}()
		read := json.NewDecoder(answers)
		hear := func() (a Answer) {
			if err := read.Decode(&a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		tell = func(o Order) Answer {
			b, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(orders, bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
			return hear()
		}
		return tell, hear(), func() {
			orders.Close()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	a, first, endA := begin(1)
	defer endA()
	b, other, endB := begin(2)
	defer endB()
	met := a(Order{Do: Meet, Peer: other.ID, Addrs: other.Addrs})
	if met.Error != "" || met.First <= 0 || met.Path != "tcp" || met.Direct < met.First {
		t.Errorf("met: %+v", met)
	}
	if again := a(Order{Do: Meet, Peer: other.ID, Addrs: other.Addrs}); again.Error == "" {
		t.Error("it met one that it was connected to")
	}
	b(Order{Do: Bear, Peer: first.ID})
	if sent := a(Order{Do: Send, Peer: other.ID, Bytes: 3 * piece}); sent.Error != "" || sent.Took <= 0 {
		t.Errorf("sent: %+v", sent)
	}
	if b(Order{Do: "dance"}).Error == "" {
		t.Error("it can do what it cannot")
	}
	if told := b(Order{Do: Tell}); told.ID != other.ID || len(told.Addrs) == 0 {
		t.Errorf("told: %+v", told)
	}
}
