package cost

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"godwit/task"
)

// nobody is in no overlay.
func nobody(task.PeerID, time.Time) bool { return false }

// What a peer sends beyond its burst comes in at its rate.
func TestPayWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := New(nobody), time.Now()
		for range 12 {
			if err := b.Pay(t.Context(), "p", Messages, mib); err != nil {
				t.Fatal(err)
			}
		}
		if took, want := time.Since(start), 16*time.Second; took != want { // 4 of 12 MiB at 256 KiB a second
			t.Errorf("12 MiB of a stranger took %v, want %v", took, want)
		}
		start = time.Now()
		if err := b.Pay(t.Context(), "q", Messages, 8*mib); err != nil || time.Since(start) != 0 {
			t.Errorf("another peer waits %v for it, %v", time.Since(start), err)
		}
	})
}

// Those that the node works with wait for nobody.
func TestRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := New(func(p task.PeerID, _ time.Time) bool { return p == "m" }), time.Now()
		b.Rank(map[task.PeerID]Class{"w": Worker, "c": Coordinator})
		for p, want := range map[task.PeerID]Class{"x": Stranger, "m": Member, "w": Worker, "c": Coordinator} {
			if got := b.Class(p); got != want {
				t.Errorf("%s is of class %d, want %d", p, got, want)
			}
		}
		for _, p := range []task.PeerID{"w", "c"} {
			b.Debit(p, Loop, 5*second)
			if err := errors.Join(b.Pay(t.Context(), p, Messages, 64*mib), b.Settle(t.Context(), p)); err != nil {
				t.Error(err)
			}
		}
		b.Rank(nil)
		if got := b.Class("w"); got != Stranger {
			t.Errorf("who works no more is of class %d", got)
		}
		if time.Since(start) != 0 {
			t.Errorf("they waited %v", time.Since(start))
		}
	})
}

// A peer waits until it has paid for the time that it cost; one that owes far more than it can
// pay is refused.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := New(nobody), time.Now()
		b.Debit("p", Loop, Micros(1500*time.Millisecond))
		if err := b.Settle(t.Context(), "p"); err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("half a second too much is paid after %v, %v; want 10s", time.Since(start), err)
		}
		if err := b.Settle(t.Context(), "q"); err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("another waits until %v, %v", time.Since(start), err)
		}
		b.Debit("p", Decoding, Micros(time.Minute))
		if err := b.Settle(t.Context(), "p"); !errors.Is(err, ErrBeyond) {
			t.Errorf("a minute too much: %v", err)
		}
	})
}

// Many names cost no more than all strangers may, and leave alone those that the node works with.
func TestManyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(nobody)
		b.Rank(map[task.PeerID]Class{"w": Worker})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		const each = 20 * time.Millisecond // of the loop, a frame
		spent := make(chan time.Duration)
		for i := range 64 {
			go func() {
				var sum time.Duration
				for name := task.PeerID(fmt.Sprint("stranger", i)); b.Settle(ctx, name) == nil; sum += each {
					b.Debit(name, Loop, Micros(each))
				}
				spent <- sum
			}()
		}
		for range 1000 {
			if err := b.Settle(ctx, "w"); err != nil {
				t.Fatal(err)
			}
			b.Debit("w", Loop, Micros(time.Millisecond))
		}
		var sum time.Duration
		for range 64 {
			sum += <-spent
		}
		if limit := 22 * time.Second; sum > limit || sum < limit/2 { // 2 s, and .3 of a minute, and one frame each
			t.Errorf("64 strangers had the loop for %v of a minute, want less than %v", sum, limit)
		}
	})
}

// Questions beyond the budget are refused, and who goes on asking is to blame.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(nobody)
		count := map[error]int{}
		for range 300 {
			count[b.Ask("p", Requests)]++
		}
		if count[nil] != 40 || count[ErrBusy] != 200 || count[ErrBeyond] != 60 {
			t.Errorf("300 questions at once: %v", count)
		}
		time.Sleep(time.Second)
		clear(count)
		for range 20 {
			count[b.Ask("p", Requests)]++
		}
		if count[nil] != 10 {
			t.Errorf("20 questions a second later: %v", count)
		}
		if err := b.Ask("p", Urgent); err != nil {
			t.Errorf("what goes ahead is held up by other questions: %v", err)
		}
	})
}

// What is asked for is paid for as long as the asker waits, beside what messages cost; what it would wait too long
// for costs it nothing.
func TestAfford(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := New(nobody), time.Now()
		for range 4 {
			if err := b.Afford(t.Context(), "p", Answers, 2*mib, time.Second); err != nil || time.Since(start) != 0 {
				t.Fatalf("of its burst: %v after %v", err, time.Since(start))
			}
		}
		for range 100 {
			if err := b.Afford(t.Context(), "p", Answers, 2*mib, 5*time.Second); !errors.Is(err, ErrBusy) {
				t.Fatalf("2 MiB at 256 KiB a second within 5 s: %v", err)
			}
		}
		if err := b.Afford(t.Context(), "p", Answers, mib, 5*time.Second); err != nil || time.Since(start) != 4*time.Second {
			t.Errorf("1 MiB more: %v after %v, want 4 s", err, time.Since(start))
		}
		if err := b.Pay(t.Context(), "p", Messages, mib); err != nil || time.Since(start) != 4*time.Second {
			t.Errorf("its messages wait for its answers: %v after %v", err, time.Since(start))
		}
		for i := range 40 {
			_ = b.Afford(t.Context(), task.PeerID(fmt.Sprint(i)), Answers, mib, 0)
		}
		if err := b.Afford(t.Context(), "new", Answers, mib, 0); !errors.Is(err, ErrBusy) {
			t.Errorf("many names get answers without end: %v", err)
		}
	})
}

// A peer that comes back, and names without end, gain nothing; and no more are remembered than
// maxPurses and those that the node works with.
func TestPursesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(nobody)
		for i := range 3 * maxPurses {
			b.Debit(task.PeerID(fmt.Sprint(i)), Messages, mib)
		}
		if n := len(b.purses); n > maxPurses+1 {
			t.Errorf("%d peers are remembered", n)
		}
		if wait := b.Owes("new", Messages, 1); wait == 0 {
			t.Error("a name beyond those remembered owes nothing")
		}
		time.Sleep(time.Hour)
		if wait := b.Owes("newer", Messages, 1); wait != 0 {
			t.Errorf("an hour later a new name waits %v", wait)
		}
	})
}

// A member that comes when names without end have spent theirs has a budget of its own.
func TestMembersDoNotShareWithStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(func(p task.PeerID, _ time.Time) bool { return p == "member" })
		for i := range 3 * maxPurses {
			b.Debit(task.PeerID(fmt.Sprint(i)), Messages, 1)
		}
		for range 3 {
			b.Debit("beyond", Messages, mib)
		}
		b.Debit("member", Messages, 1)
		if p := b.purses["member"]; p == nil || p.class != Member || !p.has(Messages, 1, time.Now()) {
			t.Errorf("the member's purse is %+v", p)
		}
		if n := len(b.purses); n > maxPurses+1 {
			t.Errorf("%d peers are remembered", n)
		}
	})
}
