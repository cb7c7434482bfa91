package message_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"testing"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestEveryListHasABound: of all that a message, a row or facts lead to, each list and map
// says how long it may be, or is bytes.
func TestEveryListHasABound(t *testing.T) {
	want := map[string]int{ // by the name of the constant that others rely on
		"Report.Ended": message.MaxEndings, "Report.Saved": message.MaxSaved, "SavedState.Marks": message.MaxMarks,
		"Report.Unmoved": message.MaxMoves,
		"Progress.Tasks": message.MaxProgress, "Progress.Runs": message.MaxRuns,
		"Ack.Moves": message.MaxMoves, "Got.Lacking": message.MaxLacking, "Got.Rejected": message.MaxRejected,
		"Got.Refused": message.MaxRefused, "Submit.Refused": message.MaxRefused,
		"Got.Again": message.MaxAgain, "Submit.Again": message.MaxAgain,
		"Again.Not": message.MaxBarred, "Again.Only": message.MaxBarred,
		"Retired.Jobs": message.MaxKnown, "Retired.Pairs": message.MaxPairs, "Kept.Lacking": message.MaxPairs,
		"Known.Jobs": message.MaxKnown, "Wanted.Jobs": message.MaxKnown, "Known.Pairs": message.MaxPairs,
		"Copy.Pairs": message.MaxPairs, "Copy.Gone": message.MaxPairs, "Copy.Live": message.MaxPairs,
		"Copy.Runs": message.MaxRows, "RowRun.Rows": message.MaxRows, "Copy.Names": message.MaxNames,
		"Copy.Hold": message.MaxPairs, "Copied.Held": message.MaxPairs, "LiveLeases.Leases": message.MaxLive,
		"Hold.CIDs": message.MaxHoldCIDs, "Hold.Holders": message.MaxHolders, "Got.Have": ledger.MaxRanges,
		"Submit.Have": ledger.MaxRanges, "Submit.Taken": ledger.MaxRanges,
		"Submit.Own": ledger.MaxRanges, "Got.Own": ledger.MaxRanges,
		"Got.Taken":  ledger.MaxRanges,
		"Made.Tasks": message.MaxProgress, "MadeTask.Outputs": task.MaxOutputs, "Progress.Unknown": message.MaxLacking,
		"Reads.Files": task.MaxReads, "Reads.Sources": message.MaxSources,
		"Reads.Makers": task.MaxReads, "Facts.Done": ledger.MaxRanges, "Facts.Failed": ledger.MaxRanges,
		"Row.Results": ledger.MaxResults, "Row.Failures": ledger.MaxResults, "Row.Voided": ledger.MaxResults,
		"Row.Bad": ledger.MaxBad, "Row.Lines": ledger.MaxLines, "Row.Log": ledger.MaxLog,
		"TaskSummary.Attempts": ledger.MaxLog,
		"TaskSummary.Results":  ledger.MaxResults,
		"Trail.Began":          task.MaxChain, "PartProof.Kept": task.MaxBoundaries, "Checkpoint.Before": task.MaxChain - 1,
		"Link.With": task.MaxWitnesses, "Checkpoint.With": task.MaxWitnesses, "Witness.Chain": task.MaxWitnessLinks,
		"Witness.Path":   5, // to one of task.MaxBoundaries
		"Result.Outputs": task.MaxOutputs, "Original.Outputs": task.MaxOutputs,
		"Report.Held": 4 * overlay.MaxSlots, "Report.Refused": 4 * overlay.MaxSlots,
		"Place.Leases": 4 * overlay.MaxSlots, "Place.Keys": 4 * overlay.MaxSlots,
		"Place.Holders": 4 * overlay.MaxSlots, "Ack.Ended": 4 * overlay.MaxSlots, "Ack.Drop": 4 * overlay.MaxSlots,
	}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(x reflect.Type) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(x.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[x] {
			return
		}
		seen[x] = true
		for i := range x.NumField() {
			f := x.Field(i)
			name := x.Name() + "." + f.Name
			if k := f.Type.Kind(); (k == reflect.Slice || k == reflect.Map) && f.Type.Elem().Kind() != reflect.Uint8 {
				if got, err := strconv.Atoi(f.Tag.Get("most")); err != nil || got != want[name] {
					t.Errorf("%s is bound to %d (%v), want %d", name, got, err, want[name])
				}
				delete(want, name)
			}
			if f.IsExported() {
				look(f.Type)
			}
		}
	}
	for _, v := range []any{message.Message{}, ledger.Row{}, ledger.Facts{}, task.Record{}} {
		look(reflect.TypeOf(v))
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
}

// head is the head of a value of a major type.
func head(major byte, n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{major<<5 | 26}, uint32(n))
}

// worst are messages that are many times larger decoded than encoded.
func worst() map[string][]byte {
	empty := bytes.Repeat([]byte{0xa0}, 16_000)
	list := func(kind, field byte, elements []byte, n int) []byte {
		return append(append([]byte{0xa1, kind, 0xa1, field}, head(4, n)...), elements...)
	}
	attempts := append([]byte{0xa1, 4, 0x98, 32}, empty[:32]...)
	results := append([]byte{0xa1, 3}, append(head(4, 4096), empty[:4096]...)...)
	outputs := append([]byte{0xa1, 6}, append(head(4, 1024), empty[:1024]...)...)
	unknown := []byte{0xb8, 200}
	for i := range 200 {
		unknown = append(unknown, 0x19, byte(2+i/256), byte(i), 0)
	}
	return map[string][]byte{
		"held":     list(7, 4, empty[:16_000], 16_000),
		"ranges":   list(4, 2, bytes.Repeat([]byte{0xa0}, 65_000), 65_000),
		"leases":   list(6, 2, bytes.Repeat([]byte{0xa1, 4, 0xa0}, 16_000), 16_000),
		"holders":  append([]byte{0xa1, 6, 0xa1, 3, 0xb9, 0, 255}, manyKeys(255)...),
		"live":     list(11, 6, bytes.Repeat(append([]byte{0xa1, 2, 0x98, 255}, empty[:255]...), 60), 60),
		"attempts": list(3, 2, bytes.Repeat(attempts, 256), 256),
		"results":  list(3, 2, bytes.Repeat(results, 200), 200),
		"outputs":  list(7, 5, bytes.Repeat(append([]byte{0xa1, 2}, outputs...), 200), 200),
		"unknown":  append([]byte{0xa1, 8}, unknown...),
		"acks":     {0xa1, 8, 0xa0},
		"reports":  {0xa1, 7, 0xa0},
		"nothing":  {0xa0},
		"cids": list(11, 7, append([]byte{0xa1, 2}, append(head(4, 16_000), bytes.Repeat([]byte{0x60}, 16_000)...)...),
			1),
	}
}

func manyKeys(n int) (b []byte) {
	for i := range n {
		b = append(b, 0x61, byte(i), 0x80)
	}
	return b
}

// TestFrameGrowth: the worst frame of the largest size takes at most eight times its bytes
// in memory, refused or not.
func TestFrameGrowth(t *testing.T) {
	const most = 8
	for name, one := range worst() {
		n := (message.MaxFrame - 16) / len(one)
		frame := append(head(4, n), bytes.Repeat(one, n)...)
		if n > message.MaxMessages {
			frame = append(head(4, message.MaxMessages), bytes.Repeat(one, message.MaxMessages)...)
			frame = append(frame[:len(frame)-len(one)], padded(message.MaxFrame-len(frame))...)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := message.DecodeFrame(frame)
		runtime.ReadMemStats(&after)
		got := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(frame))
		t.Logf("%-9s %7d bytes, %5.2f times: %.90v", name, len(frame), got, err)
		if got > most {
			t.Errorf("%s: a frame of %d bytes takes %.1f times as much memory", name, len(frame), got)
		}
	}
}

// TestFrameGrowthAtTheEdge: the same of frames that are just not refused.
func TestFrameGrowthAtTheEdge(t *testing.T) {
	for name, one := range worst() {
		most := 0.
		refused := sort.Search(min(64, (message.MaxFrame-64)/len(one)), func(n int) bool { // the first that is
			frame := append(head(4, n+1), bytes.Repeat(one, n)...)
			frame = append(frame, padded(message.MaxFrame-len(frame))...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := message.DecodeFrame(frame)
			runtime.ReadMemStats(&after)
			most = max(most, float64(after.TotalAlloc-before.TotalAlloc)/float64(len(frame)))
			return err != nil
		})
		t.Logf("%-9s %2d in a frame, %5.2f times", name, refused-1, most)
		if most > 8 {
			t.Errorf("%s: a frame takes %.1f times as much memory", name, most)
		}
	}
}

// padded is a message of about n bytes: an acceptance with a long error.
func padded(n int) []byte {
	return append(append([]byte{0xa1, 2, 0xa1, 2}, head(3, n-16)...), bytes.Repeat([]byte{'x'}, n-16)...)
}

// TestHonestGrowth: what machines send is far from the bound.
func TestHonestGrowth(t *testing.T) {
	key, id := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 3, nil)
	job := rec.ID()
	var held []message.Held
	var ends []message.AttemptName
	var have []message.Range
	leases := &message.Place{Epoch: 1, Holders: map[task.JobID][]task.PeerID{job: {id}}}
	for i := range uint64(4000) {
		name := task.TaskID{Job: job, Index: i}
		held = append(held, message.Held{Task: name, Attempt: message.Attempt{Epoch: 1, Seq: i}})
		ends = append(ends, message.AttemptName{Task: name, Attempt: message.Attempt{Epoch: 1, Seq: i}})
		have = append(have, message.Range{From: 2 * i, To: 2*i + 1})
		leases.Leases = append(leases.Leases, message.Lease{Task: name, Attempt: message.Attempt{Epoch: 1, Seq: i}})
	}
	all := []message.Message{{Report: &message.Report{Held: held}}, {Ack: &message.Ack{Ended: ends, Drop: ends}},
		{Got: &message.Got{Job: job, Have: have}}, {Place: leases}}
	for range 100 {
		all = append(all, schedtest.EveryMessage(t)...)
	}
	for _, m := range [][]message.Message{all[:1], all[1:2], all[2:3], all[3:4], all[4:]} {
		frames, err := message.PackFrames(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			const bound = 4 // of 6
			if err := task.DecodeWithin(f, new([]message.Message), bound, 0); err != nil {
				t.Errorf("%d bytes: %v", len(f), err)
			}
		}
	}
}
