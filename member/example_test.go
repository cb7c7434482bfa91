package member_test

import (
	"fmt"
	"iter"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"godwit/trace"
)

// A lonely machine is the World of a peer that knows nobody and runs nothing.
type lonely struct{ now time.Time }

func (l *lonely) Wall() time.Time                                                { return l.now }
func (l *lonely) Describe(a *overlay.Advert)                                     { a.Speed = 1 }
func (l *lonely) History() *trace.History                                        { return nil }
func (l *lonely) Stay(*overlay.Advert, time.Time, time.Duration) (float64, bool) { return 1, false }
func (l *lonely) Neighbours() []task.PeerID                                      { return nil }
func (l *lonely) Guests(func(*member.Member))                                    {}
func (l *lonely) LeaveTime() time.Duration                                       { return 0 }
func (l *lonely) Withheld() int                                                  { return 0 }
func (l *lonely) Weight(*member.Member) float64                                  { return 1 }
func nothing(string) (map[string][]byte, error)                                  { return nil, nil }

// none is a disk without any pairs.
func none(string) iter.Seq2[string, []byte] {
	return func(func(string, []byte) bool) {}
}

// A driver gives a peer what happens and carries out what it answers with: here it only
// counts what is to be durable, and tells who leads.
func Example() {
	key, self := schedtest.Identity(0)
	world := &lonely{schedtest.Start}
	p := member.New(member.Config{Self: self, Key: key, Scheduler: scheduler.Default(), World: world,
		Pool: &predictor.Pool{}, Draw: func() float64 { return .5 }}, world.now)
	manifest, err := overlay.Named("commons")
	if err != nil {
		fmt.Println(err)
		return
	}
	m := member.NewMember(p, manifest, nil, scheduler.Default())

	durable := false
	carryOut := func(effects []member.Effect) {
		for _, e := range append(effects, p.Settle(world.now)...) {
			switch e := e.(type) {
			case *member.Do:
				for _, machine := range e.Effects {
					_, persist := machine.(message.Persist)
					durable = durable || persist
				}
			case member.LeadershipChanged:
				fmt.Printf("it leads in term %d after %v\n", overlay.Term(e.Epoch), world.now.Sub(schedtest.Start))
			}
		}
	}
	carryOut(p.At(world.now, func() {
		if _, err := m.Restore(nothing, none); err != nil {
			fmt.Println(err)
		}
		p.Enter(m)
		m.FoundAt(world.now.Add(2 * time.Second))
	}))
	carryOut(p.Step(world.now, member.Lent{State: message.OwnerState{State: overlay.Available, Slots: 4}}))
	carryOut(p.Step(world.now, member.Wake{}))
	for m.Coordinator() == nil {
		at, ok := p.NextWake(false)
		if !ok {
			fmt.Println("it sleeps for ever")
			return
		}
		world.now = at
		carryOut(p.Step(at, member.Wake{}))
	}
	fmt.Println("something is to be durable:", durable)
	fmt.Println("its worker may use", m.Told().Slots, "slots")
	// Output:
	// it leads in term 1 after 2s
	// something is to be durable: true
	// its worker may use 4 slots
}
