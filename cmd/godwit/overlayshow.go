package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/table"
	"godwit/migrate"
	"godwit/node"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
)

func newOverlayList() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Overlays that this node serves: role, members, leader, version of the rules",
		Example: `  godwit overlay list --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(&c, func(client *api.Client) error {
				all, err := client.Overlays(cmd.Context())
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				rows := make([][]string, 0, len(all))
				for _, o := range all {
					if c.json {
						if err := table.JSON(out, o); err != nil {
							return err
						}
						continue
					}
					rows = append(rows, []string{
						o.Name, shortOverlay(o.ID), o.Role, strconv.Itoa(o.Members), shareText(o.Share),
						cmp.Or(table.ShortPeer(o.Leader), "-"),
						strconv.FormatUint(o.Epoch, 10), strconv.FormatUint(o.Version, 10), ledgerText(&o),
					})
				}
				if !c.json {
					table.Print(out, "NAME ID ROLE MEMBERS SHARE LEADER EPOCH VERSION LEDGER", rows)
				}
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}

func newOverlayShow() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:     "show NAME|ID",
		Short:   "An overlay's rules, founder, coordinators and ledger",
		Example: `  godwit overlay show lab`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				d, err := client.Overlay(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case c.json:
					return table.JSON(cmd.OutOrStdout(), d)
				}
				printOverlay(cmd.OutOrStdout(), &d)
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}

func printOverlay(w io.Writer, d *node.OverlayDetail) {
	line := func(head, format string, args ...any) {
		fmt.Fprintf(w, "%-13s%s\n", head, fmt.Sprintf(format, args...))
	}
	line("overlay", "%s", d.Name)
	line("id", "%s", d.ID)
	if d.Founder == "" {
		line("founder", "nobody: an open pool that goes by its name, whose rules never change")
	} else {
		line("founder", "%s, on %s", d.Founder, d.Founded.Local().Format(time.DateTime))
		line("version", "%d (%s)", d.Version, d.Manifest)
	}
	line("placement", "%s", cmp.Or(d.Rules.Placement, place.Default))
	line("migration", "%s", cmp.Or(d.Rules.Migration, migrate.Default))
	line("predictor", "%s", cmp.Or(d.Rules.Predictor, predictor.Default))
	line("fairness", "%s", fairnessText(&d.Rules))
	line("chunking", "%s", cmp.Or(d.Rules.Chunking, chunk.Default))
	line("replicas", "%s", replicasText(d.Rules.Replicas))
	line("verify", "%s", verifyText(d.Rules.Verify))
	line("priorities", "%s", prioritiesText(&d.Rules))
	line("cells", "%s", cmp.Or(d.Rules.Cells, node.CellsOn))
	if n := d.Rules.SlotsEach; n > 0 {
		line("slots each", "at most %d slots for the jobs of one submitter", n)
	}
	line("admission", "%s", admissionText(&d.Rules))
	for _, p := range d.Rules.Allowed {
		line("", "%s", p)
	}
	for i, p := range d.Rules.Trusted {
		line([]string{"trusted", ""}[min(i, 1)], "%s", p)
	}
	line("members", "%d; this node is a %s with share %s", d.Members, d.Role, shareText(d.Share))
	line("leader", "%s", leaderText(&d.OverlayStatus))
	coordinators := make([]string, 0, len(d.Group))
	for _, p := range d.Group {
		coordinators = append(coordinators, table.ShortPeer(p))
	}
	line("coordinators", "%s", cmp.Or(strings.Join(coordinators, ", "), "none known"))
	line("ledger", "%s", ledgerText(&d.OverlayStatus))
	if d.Digest != "" {
		line("digest", "%s", d.Digest)
	}
}
