package p2p_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/internal/testnet"
	"godwit/task"
)

// While 64 MiB go over a link that they fill, a question asked each second, as a
// lease is renewed, is answered within that second, whichever way the bytes go.
func TestUrgentBesideBulk(t *testing.T) {
	notUnderRace(t)
	for name, bandwidth := range map[string]int{"100 Mbit/s": 100e6, "20 Mbit/s": 20e6} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := testnet.New(t, 2, testnet.Options{Alone: true, Bandwidth: bandwidth})
				reader, holder := net.Nodes[0], net.Nodes[1]
				root, err := holder.Blocks().ImportBytes(t.Context(), content(64<<20))
				if err != nil {
					t.Fatal(err)
				}
				reader.Connect(holder)
				ctx, done := context.WithCancel(t.Context())
				began := time.Now()
				var took time.Duration
				go func() {
					defer done()
					if err := reader.Blocks().Fetch(ctx, root, []task.PeerID{holder.ID()}, blocks.AtMost(1<<40)); err != nil {
						t.Error(err)
					}
					took = time.Since(began)
				}()
				asked, worst := 0, map[string]time.Duration{}
				for ctx.Err() == nil {
					for way, ask := range map[string]func() error{
						"with the bytes": func() error {
							_, err := holder.Request(t.Context(), reader.ID(), "renew", make([]byte, 200))
							return err
						},
						"against them": func() error {
							_, err := reader.Request(t.Context(), holder.ID(), "renew", make([]byte, 200))
							return err
						},
					} {
						at := time.Now()
						if err := ask(); err != nil {
							t.Fatal(err)
						}
						asked++
						worst[way] = max(worst[way], time.Since(at))
					}
					time.Sleep(time.Second)
				}
				t.Logf("%v for 64 MiB; %d questions, the slowest %v", took, asked, worst)
				for way, w := range worst {
					if w > time.Second {
						t.Errorf("a question %s took %v", way, w)
					}
				}
			})
		})
	}
}
