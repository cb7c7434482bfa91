package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/lab/table"
	"godwit/node"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// overlayLine is an overlay in `godwit status`.
func overlayLine(o *node.OverlayStatus) string {
	return fmt.Sprintf("%s: %s of %s, %s", o.Name, cmp.Or(o.Role, node.RoleMember), counted(o.Members, "member"),
		leaderText(o))
}

func leaderText(o *node.OverlayStatus) string {
	if o.Leader == "" {
		return "no leader known"
	}
	return fmt.Sprintf("led by %s (epoch %d, term %d)", table.ShortPeer(o.Leader), o.Epoch, o.Term)
}

// ledgerText says what of the ledger this node holds.
func ledgerText(o *node.OverlayStatus) string {
	if o.Digest == "" {
		return "none here"
	}
	whole := "whole"
	if !o.Synced {
		whole = "not yet whole"
	}
	return fmt.Sprintf("%s, %s, %s", counted(o.Jobs, "job"), counted(o.Rows, "row"), whole)
}

func replicasText(n int) string {
	if n <= 1 {
		return "what the job asks"
	}
	return fmt.Sprintf("at least %d of every task", n)
}

func verifyText(floor string) string {
	if floor == "" || floor == "off" {
		return "what the job asks"
	}
	return fmt.Sprintf("the results of every job, at least like %s", floor)
}

func admissionText(r *node.OverlayRules) string {
	switch r.Admission {
	case node.AdmitInvited:
		return "invited: with a ticket of the founder"
	case node.AdmitListed:
		return fmt.Sprintf("listed: %s and the founder", counted(len(r.Allowed), "peer"))
	}
	return "open: everybody"
}

func prioritiesText(r *node.OverlayRules) string {
	if r.Priorities || r.Admission == node.AdmitInvited || r.Admission == node.AdmitListed {
		return "as jobs ask"
	}
	return "void: anybody could ask for any"
}

// beliefText says whether a member is held to be there, and why.
func beliefText(m *node.Member) string {
	if m.Belief == "" || m.Belief == "there" {
		return cmp.Or(m.Belief, "-")
	}
	text := m.Belief + " for " + table.Ago(m.BeliefSince)
	if m.BeliefBy != "" {
		text += " (" + m.BeliefBy + ")"
	}
	return text
}

// shortOverlay keeps the end of an overlay's ID; every verb takes it in place of
// the ID.
func shortOverlay(id task.CID) string { return table.Tail(string(id), 10) }

func shareText(share float64) string { return strconv.FormatFloat(share, 'g', 4, 64) }

// longLife writes whole hours without their minutes and seconds.
func longLife(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.String()
}

// counted is a number of things, of which one has a plural in s.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// indent puts two spaces before every line.
func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

// fairnessText is the policy of fairness, or who else says whose turn it is.
func fairnessText(r *node.OverlayRules) string {
	if p, err := place.Parse(r.Placement); err == nil && r.Fairness == "" && p.Traits().Rate != nil {
		return "as the placement policy chooses"
	}
	return cmp.Or(r.Fairness, share.Default)
}

// printJoined prints the ID of an overlay that the node is a member of now.
func printJoined(cmd *cobra.Command, d *node.OverlayDetail, asJSON bool) error {
	if asJSON {
		return table.JSON(cmd.OutOrStdout(), d)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "serving %s\n", d.Name)
	return printLine(cmd.OutOrStdout(), d.ID)
}

func printLine(w io.Writer, v any) error {
	_, err := fmt.Fprintln(w, v)
	return err
}
