package hostile

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/node/thanks"
	"godwit/task"
)

// credits are attacks on what workers are credited with. They are played on the state machine of a node's credit.
func credits() []attack {
	return []attack{{id: "T13", each: playCredit, threat: "credit receipts that evict others, and totals that overflow",
		varies: "receipts of 1 to 600 keys, for 1 to 11 days each, in any order; totals of 2 to 6 days",
		before: "400 keys evicted 2,100 of 3,000 tasks from an honest submitter's credit, and a total of fuel overflowed"}}
}

const (
	// creditPool is the overlay of the receipts.
	creditPool = "bafkreid5itgmmdpsjwzfvvxu5lqsucp6uk2r5ea47resvoew3oapfavr34"
	creditDays = 30  // of an honest submitter's receipts
	creditOf   = 100 // tasks on each
	// mostFuel is the most that a receipt says of fuel.
	mostFuel = 1<<63 - 1
)

// playCredit plays one variation, and returns how the attack succeeded; "" if it did not.
func playCredit(rng *rand.Rand) (string, error) {
	if rng.IntN(4) == 0 {
		return overflow(rng), nil
	}
	worker, honest := drawPeer(rng), drawPeer(rng)
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	g := thanks.NewGot(worker, 4)
	g.Ran(honest, creditDays*time.Hour) // as this machine measured
	var all []*task.Thanks
	for d := range int64(creditDays) {
		all = append(all, &task.Thanks{Overlay: creditPool, Submitter: honest, Worker: worker, Day: task.DayOf(now) - d - 1,
			Issued: now.Unix(), Given: []task.Given{{Project: "honest", Tasks: creditOf, CPU: time.Hour}}})
	}
	keys, days := 1+rng.IntN(600), 1+rng.IntN(11)
	for range keys {
		liar := drawPeer(rng)
		g.Ran(liar, time.Duration(rng.IntN(60))*time.Second)
		for d := range int64(days) {
			all = append(all, &task.Thanks{Overlay: creditPool, Submitter: liar, Worker: worker, Day: task.DayOf(now) - d,
				Issued: now.Unix(), Given: []task.Given{{Project: "x", Fuel: 1}}})
		}
	}
	order := []string{"honest first", "honest last", "mixed"}[rng.IntN(3)]
	switch order {
	case "honest last":
		all = append(all[creditDays:], all[:creditDays]...)
	case "mixed":
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	for _, t := range all {
		if _, err := g.Take(thanks.Note{Thanks: t}, now); err != nil && t.Submitter == honest {
			return fmt.Sprintf("an honest receipt is not taken after %d keys: %v", keys, err), nil
		}
	}
	left := uint64(0)
	for _, note := range g.Since("", 0) {
		if note.Submitter == honest {
			left += note.Given[0].Tasks
		}
	}
	if left < creditDays*creditOf {
		return fmt.Sprintf("%d keys with %d days each, %s: %d of %d tasks of an honest submitter's credit are left", keys,
			days, order, left, creditDays*creditOf), nil
	}
	return "", nil
}

// overflow adds up large receipts of some days.
func overflow(rng *rand.Rand) string {
	var all []*task.Thanks
	submitter, worker := drawPeer(rng), drawPeer(rng)
	days := 2 + rng.IntN(5)
	for d := range int64(days) {
		all = append(all, &task.Thanks{Overlay: creditPool, Submitter: submitter, Worker: worker, Day: 100 + d,
			Issued: 200 * 86400, Given: []task.Given{{Project: "x", Fuel: mostFuel}}})
	}
	for _, row := range thanks.Table(all, func(task.PeerID) int { return 1 }) {
		if row.Fuel < mostFuel {
			return fmt.Sprintf("fuel of %d days adds up to %d", days, row.Fuel)
		}
	}
	return ""
}

// drawPeer draws a peer.
func drawPeer(rng *rand.Rand) task.PeerID {
	var seed [ed25519.SeedSize]byte
	for i := 0; i < len(seed); i += 8 {
		binary.BigEndian.PutUint64(seed[i:], rng.Uint64())
	}
	return task.PeerIDOf(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
}
