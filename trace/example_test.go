package trace_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"godwit/trace"
)

// A file of sessions is read, described and written as changes of state.
func Example() {
	const file = "host,start_s,end_s\nalpha,0,7200\nbeta,0,3600\nbeta,5400,7200\n"
	tr, err := trace.Read("lab.csv", strings.NewReader(file), trace.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range tr.Hosts {
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			fmt.Println(h.History.Host, s.State, s.Length())
		}
	}
	stats, err := trace.Describe(tr)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d hosts, available %.1f %% of the time, %d to %d at once\n",
		stats.Hosts, 100*stats.States[trace.Available].Share, stats.AtOnce.Min, stats.AtOnce.Max)
	if err := trace.Write(os.Stdout, tr, trace.Changes); err != nil {
		fmt.Println(err)
	}
	// Output:
	// alpha available 2h0m0s
	// beta available 1h0m0s
	// beta unavailable 30m0s
	// beta available 30m0s
	// 2 hosts, available 87.5 % of the time, 1 to 2 at once
	// # godwit trace
	// # name: lab
	// # start: 1970-01-01T00:00:00Z
	// # end: 1970-01-01T02:00:00Z
	// device,start_s,state
	// alpha,0,2
	// beta,0,2
	// beta,3600,0
	// beta,5400,2
}

// A History is what a peer tells of itself: a few bytes a spell.
func ExampleHistory() {
	begin := time.Date(2025, 1, 1, 9, 0, 0, 0, time.UTC)
	h := &trace.History{Host: "alpha"}
	_ = h.Append(begin, trace.Available, 1)
	_ = h.Append(begin.Add(3*time.Hour), trace.UserPresent, 0)
	h.Extend(begin.Add(4 * time.Hour))
	b := h.AppendSpells(nil, 0, h.Len())
	again, err := trace.DecodeSpells(b, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(b), "bytes,", again.Len(), "spells, until", again.Until().Format(time.TimeOnly))
	fmt.Println("at ten:", again.Spell(again.Find(begin.Add(time.Hour))).State)
	// Output:
	// 10 bytes, 2 spells, until 13:00:00
	// at ten: available
}
