package p2p_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/task"
)

// What a node carries in a day for those that it does not work with is bounded, whatever circuits they
// open; those that it works with are carried all the same.
func TestRelayedDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := apart(t, testnet.Symmetric, func(_ int, cfg *p2p.Config) { cfg.Relaying.Daily = 2 << 20 })
		relay, a, b := nodes[0], nodes[1], nodes[2]
		ask := func(size int) error { // goes there and back, in and out
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := a.Request(ctx, b.ID(), "echo", bytes.Repeat([]byte("x"), size))
			return err
		}
		if err := ask(100 << 10); err != nil {
			t.Fatal(err)
		}
		if err := ask(1 << 20); err == nil {
			t.Error("4 MiB more were carried in a day of 2")
		}
		if err := ask(1 << 20); err == nil {
			t.Error("a new circuit is carried when the day is spent")
		}
		relay.Rank(map[task.PeerID]cost.Class{a.ID(): cost.Worker, b.ID(): cost.Worker})
		time.Sleep(time.Minute)
		if err := ask(1 << 20); err != nil {
			t.Errorf("for those that the relay works with: %v", err)
		}
		relay.Rank(nil)
		relay.SetRelayed(0)
		time.Sleep(time.Minute)
		if err := ask(1); err == nil {
			t.Error("something is carried for strangers where the owner gives nothing")
		}
	})
}
