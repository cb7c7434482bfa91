package hostile

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/pause"
	"godwit/scheduler/message"
)

// crowds are attacks by the mere amount.
func crowds() []attack {
	return []attack{
		{id: "S17", play: playQuestions, level: true, before: "a question of a stranger took the leader's loop 0.45 s with " +
			"1,000 peers known, and 64 could be asked at once"},
		{id: "S23", play: playSlowReaders, level: true, plain: true,
			before: "who asked for blocks and did not read held up to " +
				"16 MiB a stream of the other's memory; 64 KiB of wishes were answered by 3.6 GB"},
		{id: "S11", play: playFrames, level: true, plain: true,
			before: "a frame of 4 MiB took 722 MiB to read; four strangers " +
				"with six frames each brought a node to 2.5 GB, and one starved the renewals of all"},
	}
}

// playQuestions asks dear questions, many at a time, as long as a minute at most.
func playQuestions(ctx context.Context, f *field, row *Row) error {
	p, err := f.hunt(ctx, openName, 12, "")
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	// Peers that report once and have no advert were remembered for good.
	pool, err := f.leader(ctx, openName)
	if err != nil {
		return err
	}
	var reporters []*stranger
	came := 0
	for came < f.Times {
		f.dismiss()
		if reporters, err = f.crowd(ctx, f.Strangers, passerby, fellow); err != nil {
			return err
		}
		for _, s := range reporters {
			if err := s.say(ctx, pool.Leader, message.Message{Report: &message.Report{Epoch: pool.Epoch}}); err != nil {
				return err
			}
			came++
		}
	}
	var asked, answered atomic.Int64
	asking, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	var all sync.WaitGroup
	const atOnce = 8
	for _, s := range reporters {
		for range atOnce {
			all.Go(func() {
				for n := 0; n < max(1, f.Times) && asking.Err() == nil; n++ {
					method := []string{"why", "job", "jobs", "scheduling", "history"}[n%5]
					body, _ := json.Marshal(map[string]any{"overlay": f.open, "job": p.id, "from": 0, "limit": 10000})
					asked.Add(1)
					if _, err := s.host.Request(asking, pool.Leader, method, body); err == nil {
						answered.Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	row.tried(int(asked.Load()), "questions why, job, jobs, scheduling and history of %d strangers, %d at a time "+
		"each, after "+
		"%d had reported and all but these had gone", len(reporters), atOnce, came)
	row.now("%d were answered", answered.Load())
	row.must("the job that was asked about", p.settle(ctx, preyLimit))
	return nil
}

// playSlowReaders asks for many blocks on many streams, and reads nothing.
func playSlowReaders(ctx context.Context, f *field, row *Row) error {
	p, err := f.hunt(ctx, openName, 2, "")
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	module, err := f.moduleName()
	if err != nil {
		return err
	}
	readers, err := f.crowd(ctx, f.Strangers, fellow, passerby)
	if err != nil {
		return err
	}
	const streams, wishes = 16, 1700 // 64 KiB of names
	list := make([]byte, 0, wishes*len(name{}))
	for range wishes {
		list = append(list, module[:]...)
	}
	var open sync.WaitGroup
	asking, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	var asked atomic.Int64
	for _, s := range readers {
		for range streams {
			open.Go(func() {
				stream, end, err := s.host.AskBlocks(asking, f.victim().Peer())
				if err != nil {
					return
				}
				defer end()
				_ = stream.SetWriteDeadline(time.Now().Add(5 * time.Second))
				w := bufio.NewWriter(stream)
				for range 4 {
					_, _ = w.Write(binary.AppendUvarint(nil, uint64(len(list))))
					if _, err := w.Write(list); err != nil || w.Flush() != nil {
						break
					}
					asked.Add(1)
				}
				<-asking.Done()
			})
		}
	}
	open.Wait()
	row.tried(int(asked.Load()), "lists of %d wishes on %d streams of each of %d strangers who read nothing", wishes,
		streams,
		len(readers))
	row.must("a job under it", p.settle(ctx, preyLimit))
	return nil
}

// amplified are frames that are short and decode to much: long lists of empty things.
func amplified() [][]byte {
	const per, frameMost = 101_000, 4<<20 - 300
	list := func(head ...byte) []byte {
		b := append(head, 0x9a, byte(per>>24), byte(per>>16&0xff), byte(per>>8&0xff), byte(per&0xff))
		for range per {
			b = append(b, 0xa0)
		}
		return b
	}
	fill := func(one []byte) []byte {
		n := min(frameMost/len(one), 255)
		frame := []byte{0x98, byte(n)}
		for range n {
			frame = append(frame, one...)
		}
		return frame
	}
	return [][]byte{
		fill(list(0xa1, 7, 0xa1, 4)),                               // Report.Held
		fill(list(0xa1, 3, 0xa1, 2, 0x81, 0xa1, 4)),                // Progress.Tasks[0].Attempts
		fill(list(0xa1, 7, 0xa1, 5)),                               // Report.Ended
		fill(list(0xa1, 11, 0xa1, 6)),                              // Copy.Live
		fill(list(0xa1, 6, 0xa1, 2)),                               // Place.Leases
		fill(list(0xa1, 9, 0xa1, 5)),                               // Known.Pairs
		fill(list(0xa1, 8, 0xa1, 3)),                               // Ack.Drop
		fill(list(0xa1, 3, 0xa1, 2, 0x81, 0xa1, 3, 0x81, 0xa1, 6)), // a result's outputs
	}
}

// playFrames has a crowd send such frames at once.
func playFrames(ctx context.Context, f *field, row *Row) error {
	frames := amplified()
	crowd, err := f.crowd(ctx, f.Strangers, passerby, fellow, passerby, passerby)
	if err != nil {
		return err
	}
	p, err := f.hunt(ctx, openName, 4, "")
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	each := max(6, f.Times/len(crowd))
	var sent atomic.Int64
	var all sync.WaitGroup
	sending, stop := context.WithTimeout(ctx, 40*time.Second)
	defer stop()
	for i, s := range crowd {
		all.Go(func() {
			for n := range each {
				if f.victim().Ended() || s.frame(sending, f.victim().Peer(), f.open, frames[(i+n)%len(frames)]) != nil {
					return
				}
				sent.Add(1)
			}
		})
	}
	all.Wait()
	row.tried(int(sent.Load()), "frames of 4 MiB of %d kinds of long lists, by %d strangers at once", len(frames),
		len(crowd))
	if err := pause.For(ctx, 5*time.Second); err != nil {
		return err
	}
	row.must("a job under it", p.settle(ctx, preyLimit))
	return nil
}
