package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/node"
	"godwit/task"
)

func newCredit() *cobra.Command {
	var c clientFlags
	var pool string
	days := 30
	cmd := &cobra.Command{
		Use:   "credit",
		Short: "What this machine gave to others' jobs, or who gave what in a pool",
		Long: `What this machine gave to others' jobs: processor time and tasks by project and by day, as
the submitters thank for it with their signatures. With --pool the members of an overlay
are asked, and each is shown with what it was thanked for; names are those that owners chose
with "godwit config set name". Each of several replicas counts; what failed, was cancelled
or only checked another result does not, nor what a submitter's own machine ran.`,
		Example: `  godwit credit
  godwit credit --pool commons --days 7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 || days > node.MaxCreditDays {
				return failure.Usage("for example --days 7", "--days: %d is not from 1 to %d", days, node.MaxCreditDays)
			}
			return withClient(&c, func(client *api.Client) error {
				out := cmd.OutOrStdout()
				if pool != "" {
					p, err := client.PoolCredit(cmd.Context(), pool, days)
					return shown(out, c.json, p, err, printPoolCredit)
				}
				own, err := client.Credit(cmd.Context(), days)
				return shown(out, c.json, own, err, printCredit)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&pool, "pool", "", "`OVERLAY` whose members to ask: name, ID or end of it")
	cmd.Flags().IntVar(&days, "days", days, "how many `DAYS` count, today among them")
	return cmd
}

// shown prints an answer as JSON or by print.
func shown[T any](out io.Writer, asJSON bool, v T, err error, print func(io.Writer, *T)) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return table.JSON(out, v)
	}
	print(out, &v)
	return nil
}

func printCredit(out io.Writer, c *node.Credit) {
	fmt.Fprintf(out, "today    %s\n", gaveText(c.Today.CPU, c.Today.Tasks))
	fmt.Fprintf(out, "in all   %s since %s\n", gaveText(c.Total.CPU, c.Total.Tasks), c.Since.Format(time.DateOnly))
	if len(c.Projects) == 0 {
		fmt.Fprintln(out, "nobody has thanked this machine yet: thanks come a minute after a result was taken in")
		return
	}
	var rows [][]string
	for _, p := range c.Projects {
		rows = append(rows, []string{cmp.Or(p.Project, "-"), table.ShortPeer(p.Submitter), hoursText(p.CPU),
			fmt.Sprint(p.Tasks)})
	}
	fmt.Fprintln(out)
	table.Print(out, "PROJECT SUBMITTER TIME TASKS", rows)
	rows = nil
	for _, d := range c.Days {
		rows = append(rows, []string{d.Day, hoursText(d.CPU), fmt.Sprint(d.Tasks)})
	}
	fmt.Fprintln(out)
	table.Print(out, "DAY TIME TASKS", rows)
}

func printPoolCredit(out io.Writer, p *node.PoolCredit) {
	var rows [][]string
	for _, r := range p.Rows {
		rows = append(rows, []string{table.ShortPeer(r.Worker), cmp.Or(r.Name, "-"), hoursText(r.CPU), fmt.Sprint(r.Tasks),
			fmt.Sprint(r.Days), fmt.Sprint(r.Submitters)})
	}
	table.Print(out, "WORKER NAME TIME TASKS DAYS THANKED-BY", rows)
	fmt.Fprintf(out, "%d of %s of %s answered; since %s\n", p.Answered, counted(p.Members, "member"), p.Overlay,
		p.Since.Format(time.DateOnly))
}

// gaveText says how much was given.
func gaveText(cpu time.Duration, tasks uint64) string {
	return fmt.Sprintf("%s in %s", hoursText(cpu), counted(int(tasks), "task"))
}

// hoursText is processor time as people speak of it.
func hoursText(d time.Duration) string {
	if d < time.Hour {
		return table.Rough(d)
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// givenLine is what a machine gave today, in one line of its status; "" for nothing.
func givenLine(g *node.GivenToday) string {
	if g.Tasks == 0 && g.CPU == 0 {
		return ""
	}
	line := "this machine gave " + gaveText(g.CPU, g.Tasks) + " today"
	if len(g.For) > 0 {
		line += ", for " + task.Printable(strings.Join(g.For, ", "), 4*task.MaxName)
	}
	return line
}
