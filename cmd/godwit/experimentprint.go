package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"godwit/lab/experiment"
	"godwit/lab/experiment/remote"
	"godwit/lab/table"
	"godwit/lab/testbed/measure"
)

// word replaces spaces, because they separate the columns of a table.
func word(s string) string { return strings.ReplaceAll(s, " ", "_") }

func printExperiments(w io.Writer, all []remote.Summary) error {
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.ID, word(d.Name), fmt.Sprint(d.Classes), fmt.Sprint(d.Servers),
			fmt.Sprintf("%g", d.Length), word(strings.Join(d.Policies, "; "))})
	}
	table.Print(w, "ID NAME CLASSES SERVERS UNITS POLICIES", rows)
	return nil
}

func printExperiment(w io.Writer, d *experiment.Definition) error {
	fmt.Fprintf(w, "%s, %s: %g units of %v a run\npolicies: %s\n\n", d.ID, d.Name, d.Length,
		time.Duration(d.UnitS*float64(time.Second)), strings.Join(d.Policies, "; "))
	header := "SERVER AVAILABLE FAILURES"
	for _, c := range d.Classes {
		header += " " + word(c.Class)
	}
	arrivals := []string{"arrivals", "", ""}
	for _, c := range d.Classes {
		arrivals = append(arrivals, fmt.Sprintf("%.4g", c.Arrival))
	}
	var rows [][]string
	for _, s := range d.Servers {
		row := []string{word(s.Server), fmt.Sprintf("%g", s.Availability), fmt.Sprint(s.Failures)}
		for _, rate := range s.Rates {
			row = append(row, fmt.Sprintf("%g", rate))
		}
		rows = append(rows, row)
	}
	table.Print(w, header, append(rows, arrivals))
	return nil
}

func printAllocation(w io.Writer, a *experiment.Allocation) error {
	fmt.Fprintf(w, "lambda %.4f, ideal load %.1f%%\n", a.Lambda, 100*a.Load)
	if a.Load >= 1 {
		fmt.Fprintln(w, "overload: arrival rates exceed the capacity of the servers")
	}
	fmt.Fprintln(w)
	header := "CLASS ARRIVAL CAPACITY"
	for _, s := range a.Servers {
		header += " " + word(s.Server)
	}
	var rows [][]string
	for k, c := range a.Classes {
		row := []string{word(c.Class), fmt.Sprintf("%.4g", c.Arrival), fmt.Sprintf("%.4g", c.Capacity)}
		for _, part := range a.Share[k] {
			row = append(row, partText(part))
		}
		rows = append(rows, row)
	}
	table.Print(w, header, rows)
	return nil
}

// partText formats a share of a server ("-" for 0).
func partText(part float64) string {
	if part == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", part)
}

func printRuns(w io.Writer, all []experiment.RunStatus) error {
	var rows [][]string
	for _, r := range all {
		end := time.Now()
		if !r.Ended.IsZero() {
			end = r.Ended
		}
		rows = append(rows, []string{r.ID, r.Experiment, r.On, fmt.Sprint(r.Seed), r.State, table.Rough(end.Sub(r.Begun))})
	}
	table.Print(w, "RUN EXPERIMENT ON SEED STATE TOOK", rows)
	return nil
}

func printStatistics(w io.Writer, s *experiment.Statistics) error {
	fmt.Fprintf(w, "%s of %s on the %s, seed %d: %s", s.ID, s.Experiment, s.On, s.Seed, s.State)
	if s.Error != "" {
		fmt.Fprintf(w, ": %s", s.Error)
	}
	fmt.Fprintln(w)
	for i := range s.Results {
		fmt.Fprintln(w)
		printSnapshot(w, &s.Results[i])
	}
	return nil
}

func printSnapshot(w io.Writer, s *measure.Snapshot) {
	fmt.Fprintf(w, "%s: %.1f of %g units\n", s.Policy, s.At, s.Length)
	header := "CLASS ARRIVED WAITING RUNNING DONE FAILED RESPONSE"
	if len(s.Published) == len(s.Classes) {
		header += " PUBLISHED"
	}
	var rows [][]string
	for k, c := range s.Classes {
		row := []string{word(c.Class), fmt.Sprint(c.Arrived), fmt.Sprint(c.Waiting), fmt.Sprint(c.Running),
			fmt.Sprint(c.Done), fmt.Sprint(c.Failed), responseText(c.Response)}
		if len(s.Published) == len(s.Classes) {
			row = append(row, responseText(s.Published[k]))
		}
		rows = append(rows, row)
	}
	table.Print(w, header, rows)
	rows = nil
	for _, server := range s.Servers {
		rows = append(rows, []string{word(server.Server), server.State, fmt.Sprint(server.Running), fmt.Sprint(server.Done)})
	}
	table.Print(w, "SERVER STATE RUNNING DONE", rows)
}

// responseText formats a mean response time ("-" for 0).
func responseText(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}
