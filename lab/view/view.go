// Package view shows how the leader of an overlay schedules.
package view

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/scheduler"
)

const (
	// Every is how often the view is asked for: the leader looks at every job for
	// it.
	Every = time.Second
	// ClearScreen goes to the upper left corner and erases all below (ECMA-48).
	ClearScreen = "\x1b[H\x1b[J"
)

// Scheduling prints what a leader tells of its scheduling as tables.
func Scheduling(w io.Writer, s *scheduler.Scheduling) {
	fmt.Fprintf(w, "led by %s, epoch %d, at %s\n", table.ShortPeer(s.Leader), s.Epoch, s.At.Local().Format(time.TimeOnly))
	fmt.Fprintf(w, "placement %s, fairness %s, chunking %s, migration %s\n", s.Placement, s.Fairness, s.Chunking,
		s.Migration)
	fmt.Fprintf(w, "%d waiting, %d with members\n\n", s.Waiting, s.Running)
	printClasses(w, s)
	fmt.Fprintln(w)
	printMembersOf(w, s)
	if s.Allocation != nil {
		fmt.Fprintln(w)
		printAllocation(w, s.Allocation)
	}
}

func printClasses(w io.Writer, s *scheduler.Scheduling) {
	rows := make([][]string, 0, len(s.Classes))
	for i := range s.Classes {
		k := &s.Classes[i]
		oldest, work := "-", "-"
		if k.Waiting > 0 {
			oldest = table.Seconds(k.Oldest)
		}
		if k.Work > 0 {
			work = table.Seconds(k.Work)
		}
		rows = append(rows, []string{
			ClassText(k.Class), strconv.FormatUint(k.Waiting, 10), strconv.FormatUint(k.Running, 10), oldest,
			rateText(k.Arrival),
			strconv.FormatUint(k.Arrivals, 10), work,
		})
	}
	table.Print(w, "CLASS WAITING RUNNING OLDEST ARRIVING/s ARRIVALS WORK", rows)
	notListed(w, s.MoreClasses, "class", "classes")
}

// printMembersOf prints a line a member, with a column of rates for each class.
func printMembersOf(w io.Writer, s *scheduler.Scheduling) {
	head := "MEMBER SLOTS LOAD IDLE SHARE RUNS"
	for i := range s.Classes {
		head += " " + strings.ReplaceAll(ClassText(s.Classes[i].Class), " ", "_") + "/s"
	}
	rows := make([][]string, 0, len(s.Members))
	for i := range s.Members {
		m := &s.Members[i]
		idle := "-"
		switch {
		case !m.There:
			idle = "away"
		case m.Load < m.Slots:
			idle = table.Seconds(m.IdleFor)
		}
		row := []string{table.ShortPeer(m.Peer), strconv.Itoa(m.Slots), strconv.Itoa(m.Load), idle,
			fmt.Sprintf("%.0f%%", 100*m.Share), runsText(m, s.Classes)}
		for _, r := range m.Rates {
			text := rateText(r.Rate)
			if r.Measured == 0 {
				text += "?"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	table.Print(w, head, rows)
	notListed(w, s.MoreMembers, "member", "members")
	fmt.Fprintln(w, "rates: tasks a second of one slot; with ? not measured there, but guessed by other members")
}

func printAllocation(w io.Writer, a *scheduler.AllocationView) {
	if a.Solved.IsZero() {
		fmt.Fprintln(w, "allocation: not solved yet")
		return
	}
	fmt.Fprintf(w, "allocation, solved at %s because %s\n", a.Solved.Local().Format(time.TimeOnly), a.Why)
	if a.Error != "" {
		fmt.Fprintf(w, "  none: %s; members get any class\n", a.Error)
		return
	}
	fmt.Fprintf(w, "  lambda* %.4g, ideal load %.1f%%; processors by class and member:\n", a.Lambda, 100*a.Load)
	head := "CLASS"
	for _, p := range a.Peers {
		head += " " + table.ShortPeer(p)
	}
	rows := make([][]string, 0, len(a.Class))
	for i, name := range a.Class {
		row := []string{ClassText(name)}
		for _, x := range a.Share[i] {
			if x <= 0 {
				row = append(row, ".")
				continue
			}
			row = append(row, strconv.FormatFloat(x, 'f', 3, 64))
		}
		rows = append(rows, row)
	}
	table.Print(w, head, rows)
	if a.More {
		fmt.Fprintln(w, "... and others")
	}
}

func runsText(m *scheduler.MemberStatus, classes []scheduler.ClassStatus) string {
	var parts []string
	listed := 0
	for i := range classes {
		if n := m.Running[classes[i].Class]; n > 0 {
			parts = append(parts, ClassText(classes[i].Class)+":"+strconv.Itoa(n))
			listed++
		}
	}
	if len(m.Running) > listed {
		parts = append(parts, "others")
	}
	return cmp.Or(strings.Join(parts, ","), "-")
}

// ClassText names a class; of tasks without one it says so.
func ClassText(name string) string { return cmp.Or(name, "(none)") }

// rateText is a rate, "-" if it is not known or 0.
func rateText(x float64) string {
	if x <= 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// notListed says how many a table leaves out.
func notListed(w io.Writer, n int, one, several string) {
	switch {
	case n == 1:
		fmt.Fprintf(w, "... and 1 %s more\n", one)
	case n > 1:
		fmt.Fprintf(w, "... and %d %s more\n", n, several)
	}
}
