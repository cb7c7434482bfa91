package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/audit"
	"godwit/lab/table"
)

// runDraw draws again which results of a job were to be checked, and tells whether they were.
func (f *jobFlags) runDraw(cmd *cobra.Command, client *api.Client, ref string, asJSON bool) error {
	lots, share, err := audit.Lots(cmd.Context(), client, ref)
	if errors.Is(err, audit.ErrNoKey) {
		return &failure.Error{Code: failure.ExitFailed, Err: err, Hint: "`godwit job` says what it waits for"}
	}
	if err != nil {
		return err
	}
	drawn, missed := 0, 0
	var rows [][]string
	for i := range lots {
		l := &lots[i]
		if l.Drawn {
			drawn++
		}
		if l.Missed() {
			missed++
		}
		if asJSON {
			if err := table.JSON(cmd.OutOrStdout(), l); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{strconv.FormatUint(l.Task, 10), table.ShortPeer(l.Worker),
			strconv.FormatFloat(l.Lot, 'f', 6, 64), yesNo(l.Drawn), yesNo(l.Audited)})
	}
	if !asJSON {
		table.Print(cmd.OutOrStdout(), "TASK WORKER LOT DRAWN RUN-AGAIN", rows)
		fmt.Fprintf(cmd.OutOrStdout(), "%d results of others, %d drawn at %g %%, %d of these not run again; "+
			"the key is that of the job's record\n", len(lots), drawn, 100*share, missed)
	}
	if missed > 0 {
		return &failure.Error{Code: failure.ExitPartly, Err: fmt.Errorf("%d results were drawn and not run again", missed)}
	}
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
