// Package table writes what people read: tables, lengths of time, short names; and JSON for programs.
package table

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"godwit/task"
)

// Print writes rows under a header, in columns.
func Print(w io.Writer, header string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ReplaceAll(header, " ", "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	t.Flush()
}

// ShortPeer keeps the end of a peer ID, where IDs differ.
func ShortPeer(p task.PeerID) string { return Tail(string(p), 8) }

// ShortJob keeps the end of a job ID; every verb takes it in place of the ID.
func ShortJob(id task.JobID) string { return Tail(string(id), 10) }

// Tail returns the last n bytes of s, or all of it.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[len(s)-n:]
}

// Ago says how long ago t was, to a person.
func Ago(t time.Time) string { return Rough(time.Since(t)) }

// Rough rounds d to what a person wants to read.
func Rough(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Seconds is Rough of a number of seconds.
func Seconds(s float64) string {
	return Rough(time.Duration(s * float64(time.Second)))
}

// JSON writes v as one object on one line.
func JSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// Because writes a reason behind a colon, and nothing where there is none.
func Because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
