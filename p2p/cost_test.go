package p2p_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/task"
)

// A stranger that sends as fast as it can is read at a stranger's rate; others, and those that
// the node works with, are heard at once.
func TestFloodOfFramesWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 4, testnet.Options{Alone: true, Bandwidth: 1e9})
		victim, flooder, other, worker := net.Nodes[0], net.Nodes[1], net.Nodes[2], net.Nodes[3]
		victim.Rank(map[task.PeerID]cost.Class{worker.ID(): cost.Worker})
		for _, n := range net.Nodes[1:] {
			n.Rank(map[task.PeerID]cost.Class{victim.ID(): cost.Worker}) // so that it may send much
			n.Connect(victim)
		}
		got := func(from *testnet.Node) (sum int) {
			for _, f := range victim.Recorder.Frames(from.ID()) {
				sum += len(f)
			}
			return sum
		}
		for range 4 {
			send(t, flooder, victim, p2p.MaxFrame)
		}
		time.Sleep(5 * time.Second)
		send(t, other, victim, 1000)
		for range 4 {
			send(t, worker, victim, p2p.MaxFrame)
		}
		time.Sleep(2 * time.Second)
		if n := got(flooder); n > 12<<20 {
			t.Errorf("after 7 s a stranger's %d bytes were taken in, its burst is 8 MiB", n)
		}
		if got(other) != 1000 || got(worker) != 4*p2p.MaxFrame {
			t.Errorf("of others %d and %d bytes came", got(other), got(worker))
		}
		time.Sleep(40 * time.Second)
		if n := got(flooder); n != 16<<20 {
			t.Errorf("after 47 s %d bytes of a stranger's 16 MiB were taken in", n)
		}
	})
}

// A member whose programs ask for long answers again and again is heard at once: a submitter whose program looks
// at a job of thousands of tasks says what it holds of the job's results meanwhile. It is refused what it would wait
// for too long.
func TestAnswersHoldUpNoFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true, Bandwidth: 1e9})
		leader, member := net.Nodes[0], net.Nodes[1]
		member.Connect(leader)
		said := map[bool]int{}
		for i := range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			b, err := member.Request(ctx, leader.ID(), "long", nil)
			cancel()
			if err == nil && len(b) != testnet.LongAnswer {
				t.Errorf("%d bytes are answered", len(b))
			}
			if err != nil && !strings.Contains(err.Error(), cost.ErrBusy.Error()) {
				t.Error(err)
			}
			said[err == nil]++
			send(t, member, leader, 1)
			time.Sleep(200 * time.Millisecond)
			if n := len(leader.Recorder.Frames(member.ID())); n != i+1 {
				t.Errorf("%d frames were read of %d", n, i+1)
			}
		}
		if said[true] < 2 || said[false] == 0 {
			t.Errorf("%d long answers and %d refusals", said[true], said[false])
		}
	})
}

func send(t *testing.T, from, to *testnet.Node, size int) {
	t.Helper()
	if err := from.Send(to.ID(), make([]byte, size)); err != nil {
		t.Fatal(err)
	}
}

// A peer that has cost the node much time waits before its next frame is read; one that has
// cost far more loses its connections, and after some of that is not heard.
func TestDebtsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		victim, dear := net.Nodes[0], net.Nodes[1]
		dear.Connect(victim)
		victim.Debit(dear.ID(), cost.Loop, cost.Micros(1500*time.Millisecond))
		send(t, dear, victim, 1)
		time.Sleep(9 * time.Second)
		if n := len(victim.Recorder.Frames(dear.ID())); n != 0 {
			t.Errorf("%d frames of a peer in debt were read", n)
		}
		time.Sleep(2 * time.Second)
		if n := len(victim.Recorder.Frames(dear.ID())); n != 1 {
			t.Errorf("%d frames were read when the debt was paid", n)
		}
		for range 3 {
			victim.Debit(dear.ID(), cost.Loop, cost.Micros(time.Minute))
			send(t, dear, victim, 1)
			time.Sleep(time.Second)
		}
		if n, score := len(victim.Recorder.Frames(dear.ID())), victim.Score(dear.ID()); n != 1 || score > graylist {
			t.Errorf("%d frames of a peer far beyond were read, its score is %v", n, score)
		}
	})
}

// Requests that go ahead are answered whatever else their sender, and strangers, ask and send.
func TestUrgentGoesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true, Bandwidth: 1e9, Config: func(_ int, cfg *p2p.Config) {
			cfg.Urgent = "echo"
		}})
		victim, member := net.Nodes[0], net.Nodes[1]
		member.Connect(victim)
		for i := range 6 {
			stranger := net.Stranger(20 + i)
			connect(t, stranger, victim)
			besiege(t, stranger, victim)
		}
		victim.Debit(member.ID(), cost.Loop, cost.Micros(2*time.Second))
		send(t, member, victim, 1)
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if got, err := member.Request(ctx, victim.ID(), "echo", []byte("renewed")); err != nil ||
				string(got) != "echo renewed" {
				t.Errorf("%q, %v", got, err)
			}
			cancel()
			time.Sleep(time.Second)
		}
	})
}

// Questions beyond a peer's budget are refused by name; who goes on is not heard any more.
func TestFloodOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{Alone: true})
		victim, flooder, other := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		flooder.Connect(victim)
		other.Connect(victim)
		var wg sync.WaitGroup
		var mu sync.Mutex
		answered, refused := 0, 0
		for range 8 {
			wg.Go(func() {
				for range 20 {
					_, err := flooder.Request(t.Context(), victim.ID(), "echo", nil)
					mu.Lock()
					remote := (*p2p.RemoteError)(nil)
					switch {
					case err == nil:
						answered++
					case errors.As(err, &remote) && strings.Contains(remote.Text, "too much"):
						refused++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if answered < 40 || answered > 60 || refused < 100 {
			t.Errorf("of 160 questions at once %d were answered, %d refused", answered, refused)
		}
		if got, err := other.Request(t.Context(), victim.ID(), "echo", nil); err != nil {
			t.Errorf("another's question: %q, %v", got, err)
		}
	})
}

// What waits for peers that read slowly, or not at all, is counted with all else that they hold,
// and bounded for one and for all; it leaves room for a few words to each, and for those that
// the node works with. It is given back when they are given up.
func TestOutboxesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 1, testnet.Options{Alone: true})
		node := net.Nodes[0]
		name := func(i int) task.PeerID {
			id, err := p2p.PeerIDOf(testnet.Key(50 + i))
			if err != nil {
				t.Fatal(err)
			}
			addr, _, _ := strings.Cut(testnet.Addr(50+i), "/p2p/") // where nobody is
			node.AddAddrs(id, []string{addr}, time.Hour)
			return id
		}
		worker := name(99)
		node.Rank(map[task.PeerID]cost.Class{worker: cost.Worker})
		all := 0
		for i := range 20 {
			one := 0
			for node.Send(name(i), make([]byte, 1<<20)) == nil {
				one += 1 << 20
			}
			if one > 8<<20 {
				t.Errorf("%d bytes wait for one", one)
			}
			if held, _ := node.Held(name(i)); held < int64(one) {
				t.Errorf("of %d bytes that wait %d are counted", one, held)
			}
			all += one
			if err := node.Send(name(i), make([]byte, 1000)); err != nil && one == 0 {
				t.Errorf("a few words to a peer: %v", err)
			}
		}
		if all != 48<<20 {
			t.Errorf("%d bytes wait for all that the node does not work with, want 48 MiB", all)
		}
		for range 4 {
			if err := node.Send(worker, make([]byte, p2p.MaxFrame)); err != nil {
				t.Errorf("to a worker: %v", err)
			}
		}
		time.Sleep(time.Minute)
		if _, held := node.Held(name(0)); held != 0 {
			t.Errorf("%d bytes are held when all were given up", held)
		}
		if err := node.Send(name(0), make([]byte, p2p.MaxFrame)); err != nil {
			t.Errorf("after that: %v", err)
		}
	})
}
