package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"godwit/task"
)

// printTable writes rows under a header, in columns.
func printTable(w io.Writer, header string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ReplaceAll(header, " ", "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	t.Flush()
}

// shortPeer keeps the end of a peer ID, where IDs differ.
func shortPeer(p task.PeerID) string { return tail(string(p), 8) }

// shortJob keeps the end of a job ID; every verb takes it in place of the ID.
func shortJob(id task.JobID) string { return tail(string(id), 10) }

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[len(s)-n:]
}

// ago says how long ago t was, to a person.
func ago(t time.Time) string { return rough(time.Since(t)) }

// rough rounds d to what a person wants to read.
func rough(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func seconds(s float64) string {
	return rough(time.Duration(s * float64(time.Second)))
}
