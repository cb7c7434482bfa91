package scheduler

import (
	"slices"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// tellsOf has a worker tell of a checkpoint and boundaries; nobody can fetch the checkpoint.
func (s *signing) tellsOf(worker int, l message.Lease, c message.Checkpoint, marks ...message.Mark) *message.Audit {
	return s.reported(worker, l, c, "it serves nothing", marks)
}

// vouchedWay is a state that a worker vouches for, with these boundaries before it.
func (s *signing) vouchedWay(worker int, l message.Lease, fuel uint64, of ...message.Mark) message.Checkpoint {
	s.t.Helper()
	key, _ := schedtest.Identity(worker)
	c := message.Checkpoint{CID: task.RawCID([]byte{byte(worker)}), Fuel: fuel}
	said := c.ToVouch(s.task(3), [32]byte{byte(worker)}, nil)
	var boundaries []task.Boundary
	for _, m := range of {
		boundaries = append(boundaries, task.Boundary(m))
	}
	said.Engine, said.Pass = "amd64", 1
	said.Boundaries, said.Root = uint32(len(of)), task.TrailRoot(boundaries)
	v, err := task.Vouch(key, l.Receipt, said)
	if err != nil {
		s.t.Fatal(err)
	}
	c.Voucher = v
	return c
}

// A replica that is wrong is shown to others by what its worker signed, though it serves no state: up to the boundary
// where it parted, if its marks are what it signed, else up to the state. By what it did not sign nobody is shown.
func TestReplicaThatServesNothingIsAccused(t *testing.T) {
	const spacing = task.DefaultSpacing
	right := []message.Mark{markAt(spacing, 1), markAt(2*spacing, 2), markAt(3*spacing, 3)}
	wrong := []message.Mark{right[0], markAt(2*spacing, 8), markAt(3*spacing, 9)}
	for name, tt := range map[string]struct {
		says func(s *signing, l map[int]message.Lease) message.Checkpoint
		to   uint64 // 0 for nobody shown
		part bool
	}{
		"what it signed": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			return s.vouchedWay(9, l[9], 3*spacing+7, wrong...)
		}, 2 * spacing, true},
		"it signed other boundaries": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			return s.vouchedWay(9, l[9], 3*spacing+7, right...)
		}, 3*spacing + 7, false},
		"it signed no boundaries": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			return s.vouchedWay(9, l[9], 3*spacing+7)
		}, 3*spacing + 7, false},
		"it signed less of the way": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			return s.vouchedWay(9, l[9], 2*spacing-1, wrong[0])
		}, 0, false},
		"another's word": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			return s.vouchedWay(10, l[10], 3*spacing+7, right...)
		}, 0, false},
		"a forged word": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			c := s.vouchedWay(9, l[9], 3*spacing+7, wrong...)
			c.Fuel++
			return c
		}, 0, false},
		"nobody's word": {func(*signing, map[int]message.Lease) message.Checkpoint {
			return message.Checkpoint{CID: task.RawCID(nil), Fuel: 3*spacing + 7}
		}, 0, false},
		"it would take too long": {func(s *signing, l map[int]message.Lease) message.Checkpoint {
			return s.vouchedWay(9, l[9], refereeFuel+1)
		}, 0, false},
	} {
		s, leases := newReplicas(t, 9, 10)
		s.tellsOf(9, leases[9], tt.says(s, leases), wrong...)
		a := s.tellsOf(10, leases[10], s.vouchedWay(10, leases[10], 3*spacing+8, right...), right...)
		if a == nil || a.StopAt != 2*spacing {
			t.Fatalf("%s: %+v is run", name, a)
		}
		var told []message.Accuse
		here := task.Result{Task: a.Task, Outcome: task.Interrupted,
			Trail: &task.Trail{Pass: 1, Fuel: a.StopAt, Last: right[1].State[:]}}
		for _, e := range s.c.Step(s.now, message.Audited{Task: a.Task, StopAt: a.StopAt, Here: here}) {
			if e, ok := e.(message.Accuse); ok {
				told = append(told, e)
			}
		}
		if len(told) != min(1, int(tt.to)) {
			t.Errorf("%s: shown is %+v", name, told)
			continue
		}
		if tt.to == 0 {
			continue
		}
		chain, part := told[0].Chain, told[0].Part
		of := &task.Trail{Pass: 1, Fuel: chain[0].Fuel, Engine: "amd64", Began: chain}
		if (part != nil) != tt.part {
			t.Errorf("%s: shown is %+v", name, part)
		}
		if part == nil {
			part = of.ProveLink(0)
		}
		_, nine := schedtest.Identity(9)
		seg, err := (&task.Result{Task: s.task(3), Worker: nine, Trail: of}).Segment(part, spacing)
		if err != nil || seg.From != 0 || seg.To != tt.to || seg.By != nine {
			t.Errorf("%s: run is %+v, %v", name, seg, err)
		}
	}
}

// Each leg is looked at in which the line can have become wrong, the earliest first; not one of which it is not known
// what it began with, nor more than can be looked at.
func TestSuspects(t *testing.T) {
	for name, tt := range map[string]struct {
		fuels        []uint64 // of the chain
		cut          bool
		right, wrong uint64
		want         []uint64
	}{
		"one worker":                 {[]uint64{25}, false, 10, 20, []uint64{25}},
		"states beyond":              {[]uint64{45, 35, 25, 8}, false, 10, 20, []uint64{25}},
		"a state between":            {[]uint64{25, 15, 8}, false, 10, 20, []uint64{15, 25}},
		"a state where they parted":  {[]uint64{25, 20}, false, 10, 20, []uint64{20}},
		"a state where they agreed":  {[]uint64{25, 10}, false, 10, 20, []uint64{25}},
		"they never agreed":          {[]uint64{25, 15, 8}, false, 0, 20, []uint64{8, 15, 25}},
		"the beginning is not known": {[]uint64{25, 15, 8}, true, 0, 20, []uint64{15, 25}},
		"many":                       {[]uint64{25, 15, 14, 13, 12, 11}, false, 0, 20, []uint64{13, 14, 15, 25}},
		"nothing vouched":            {nil, false, 0, 20, nil},
	} {
		chain := make([]task.Link, len(tt.fuels))
		for k, fuel := range tt.fuels {
			if chain[k].Fuel = fuel; k < len(tt.fuels)-1 || tt.cut {
				chain[k].Voucher.Prior = make([]byte, 32)
			}
		}
		var got []uint64
		for _, leg := range suspects(chain, tt.right, tt.wrong) {
			got = append(got, leg[0].Fuel)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
