package timeline

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Job is what --json prints.
type Job struct {
	message.JobStatus
	Timeline []stint `json:"timeline"`
}

// Print lists the tasks of a job, or of many those that have a story.
func Print(out io.Writer, st message.JobStatus, all bool) {
	printJobHead(out, st)
	shown, left := st.TasksList, ""
	if !all {
		shown, left = worthTelling(shown)
	}
	table.Print(out, "TASK PARAMS STATE WHEN RAN-ON WHAT-HAPPENED", taskRows(st, shown))
	if left != "" {
		fmt.Fprintln(out, left)
	}
}

func printJobHead(out io.Writer, st message.JobStatus) {
	fmt.Fprintf(out, "job        %s\n", st.ID)
	fmt.Fprintf(out, "name       %s, submitted %s ago to %s\n", st.Name, table.Ago(st.Submitted), st.Overlay)
	fmt.Fprintf(out, "state      %s: %d tasks, %d done, %d running, %d waiting, %s\n",
		st.StateText(), st.Tasks.Total, st.Tasks.Done, st.Tasks.Running, st.Tasks.Waiting, st.NotDone())
	printAdditions(out, &st)
	printStages(out, st.Stages)
	for _, t := range st.Taken {
		fmt.Fprintf(out, "taken      %d results from job %s: these tasks did not run for this one\n", t.Tasks, t.Job)
	}
	if c := st.Checks; c != nil {
		fmt.Fprintf(out, "checked    %d results run again here (verify: %s): "+
			"%d right, %d wrong and replaced, %d open, %d to go%s\n",
			c.Right+c.Wrong+c.Open, c.Verify, c.Right, c.Wrong, c.Open, c.Due, doubted(c))
		fmt.Fprintf(out, "promise    %s\n", task.ClipMessage(c.Promise))
		if c.Confirm != "" {
			fmt.Fprintf(out, "confirmed  all results are run again of which %s\n", c.Confirm)
		}
		if c.Others+c.Agreed > 0 {
			fmt.Fprintf(out, "others     %d accepted as other members came to the same, %d run again by others now\n",
				c.Agreed, c.Others)
		}
		if c.Divergent != "" {
			fmt.Fprintf(out, "divergent  compiled for %s, the program comes to other results than here: nobody is blamed\n",
				c.Divergent)
		}
		if h := c.Heard; h != nil {
			fmt.Fprintf(out, "told       of %d of its workers %.1f tasks were found right here; what %d other members found "+
				"right counts for %.1f more\n", h.Workers, h.Own, h.Tellers, h.Told)
		}
		fmt.Fprintf(out, "standing   %d final, %d accepted, %d of strangers and unchecked, %d to be checked or open\n", c.Final,
			c.Accepted, c.Unchecked, c.Due+c.Open)
		switch {
		case c.Waits > 0 && c.NoCore:
			fmt.Fprintf(out, "not checked %d results: this machine checks them when it lends a core\n", c.Waits)
		case c.Waits > 0:
			fmt.Fprintf(out, "not checked %d results: beyond what checks may cost this machine; `godwit verify %s` runs more\n",
				c.Waits, table.ShortJob(st.ID))
		}
	}
	for i := range st.Loans {
		l := &st.Loans[i]
		fmt.Fprintf(out, "lent       %d tasks to cell %s, led by %s, since %s ago, %d of them run; they come back in %s "+
			"unless something is heard\n", l.Tasks, l.Cell, table.ShortPeer(l.Leader), table.Ago(l.Since), l.Running,
			table.Rough(time.Until(l.Until)))
	}
	if st.Slots > 0 {
		fmt.Fprintf(out, "slots      the job takes at most %d at once\n", st.Slots)
	}
	if st.Note != "" {
		fmt.Fprintf(out, "note       %s\n", task.ClipMessage(st.Note))
	}
	fmt.Fprintf(out, "cpu        %s useful, %s wasted\n", table.Seconds(st.UsefulCPU), table.Seconds(st.WastedCPU))
	if st.Migrations > 0 {
		fmt.Fprintf(out, "moved      %d times\n", st.Migrations)
	}
	if n, mean, most := standstills(Of(st.TasksList)); n > 0 {
		fmt.Fprintf(out, "stood      still for %s in the mean of %d moves, at most %s\n", table.Seconds(mean), n,
			table.Seconds(most))
	}
	fmt.Fprintln(out)
}

// printAdditions tells the job that this one adds tasks to, and the jobs that add tasks to this one.
func printAdditions(out io.Writer, st *message.JobStatus) {
	if st.Adds != "" {
		fmt.Fprintf(out, "adds       its tasks to job %s\n", st.Adds)
	}
	for _, a := range st.Added {
		fmt.Fprintf(out, "added      %d tasks as job %s, which is %s\n", a.Tasks, a.Job, a.State)
	}
	if st.Trials != "" {
		fmt.Fprintf(out, "trials     %s\n", task.ClipMessage(st.Trials))
	}
}

// printStages draws what waits for what, a line for each stage, and how far each is.
func printStages(out io.Writer, stages []message.StageStatus) {
	const barWidth = 20
	wide := 0
	for i := range stages {
		wide = max(wide, len(stages[i].Name))
	}
	for i := range stages {
		s := &stages[i]
		head, needs := "", "reads no other"
		if i == 0 {
			head = "stages"
		}
		if len(s.Needs) > 0 {
			needs = strings.Join(s.Needs, "; ")
		}
		whole := float64(max(1, s.Tasks)) // a node that is not this one's may say that more are done
		done := int(barWidth * min(1, float64(s.Done)/whole))
		failed := min(int(barWidth*min(1, float64(s.Failed)/whole)), barWidth-done)
		bar := strings.Repeat("#", done) + strings.Repeat("x", failed) + strings.Repeat(".", barWidth-done-failed)
		count := fmt.Sprintf("%d of %d done", s.Done, s.Tasks)
		if s.Failed > 0 {
			count += fmt.Sprintf(", %d failed", s.Failed)
		}
		fmt.Fprintf(out, "%-10s %-*s [%s] %s <- %s\n", head, wide, s.Name, bar, count, needs)
	}
}

// doubted says how many of the results to be checked are of workers that were wrong.
func doubted(c *message.Checks) string {
	if c.Doubted == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them doubted: their worker was wrong elsewhere", c.Doubted)
}

// standstills counts the moves of which it is known how long the task stood still,
// with the mean and the most, in seconds.
func standstills(stints []stint) (n int, mean, most float64) {
	for _, s := range stints {
		if s.StillS > 0 {
			n++
			mean += (s.StillS - mean) / float64(n)
			most = max(most, s.StillS)
		}
	}
	return n, mean, most
}

// PrintStory tells of one task what happened to it, line by line.
func PrintStory(out io.Writer, st message.JobStatus) {
	t := st.TasksList[0]
	fmt.Fprintf(out, "task       %d of %s", t.Index, st.Name)
	if params := paramsOf(t); params != "" {
		fmt.Fprintf(out, " (%s)", params)
	}
	fmt.Fprintf(out, ", %s\n", stateOf(t))
	if lacks := t.Lacks(); lacks != "" {
		fmt.Fprintf(out, "%10s %s\n", "warning", lacks)
	}
	if t.From != nil {
		fmt.Fprintf(out, "%10s from task %d of job %s: module, arguments, environment and inputs are the same\n", "taken",
			t.From.Index, t.From.Job)
	}
	if w := t.Refuted; w != nil {
		fmt.Fprintf(out, "%10s what %s signed: %s; %s, and this node made the task anew\n", "refuted",
			table.ShortPeer(w.Signed), w.Why, by(w))
	}
	for _, h := range happenings(Of(st.TasksList)) {
		fmt.Fprintf(out, "%10s %s\n", since(st.Submitted, h.at), h.what)
	}
}

// by says whose fault a wrong result is.
func by(w *message.RefutedStatus) string {
	if w.By == "" {
		return "whose fault it is cannot be told"
	}
	return "it went wrong at " + table.ShortPeer(w.By)
}

// stateOf is the state of a task, with the completed percentage or with how its result stands where that is known.
func stateOf(t message.TaskStatus) string {
	if t.Reason == message.RemovedReason {
		return "removed"
	}
	if t.Completed > 0 {
		return fmt.Sprintf("%s, some %.0f %%", t.State, 100*t.Completed)
	}
	if t.Standing == "" {
		return t.State
	}
	state := t.State + ", " + string(t.Standing)
	if p := t.Parts; p != nil && p.Checked > 0 {
		state += fmt.Sprintf(", checked %d of %d parts", p.Checked, p.Of)
	}
	return state
}

func paramsOf(t message.TaskStatus) string {
	params := make([]string, 0, len(t.Params))
	for _, name := range slices.Sorted(maps.Keys(t.Params)) {
		params = append(params, name+"="+t.Params[name])
	}
	return strings.Join(params, " ")
}

// taskRows has one row for each attempt of each task.
func taskRows(st message.JobStatus, tasks []message.TaskStatus) [][]string {
	var rows [][]string
	for _, t := range tasks {
		head := []string{strconv.FormatUint(t.Index, 10), paramsOf(t), stateOf(t)}
		lacks, before := t.Lacks(), len(rows)
		if len(t.Attempts) == 0 {
			rows = append(rows, append(head, "-", "-", cmp.Or(lacks, t.Reason, "-")))
		}
		for _, s := range Of([]message.TaskStatus{t}) {
			when := since(st.Submitted, s.Start) + " to "
			if s.End.IsZero() {
				when += "now"
			} else {
				when += since(st.Submitted, s.End)
			}
			rows = append(rows, append(head, when, table.ShortPeer(s.Peer), s.tell()))
			head = []string{"", "", ""}
		}
		if len(t.Attempts) > 0 && lacks != "" && len(rows) > before {
			rows[len(rows)-1][5] += "; " + lacks
		}
	}
	return rows
}

// tell says what happened in a stint, in a line.
func (s *stint) tell() string {
	what := s.Outcome
	if s.End.IsZero() {
		what += " for " + table.Ago(s.Start)
	} else {
		what += " after " + table.Rough(s.End.Sub(s.Start))
	}
	if s.Resumed {
		what = fmt.Sprintf("went on from a checkpoint (%s saved), %s", table.Seconds(s.SavedS), what)
	}
	if s.MovedTo != "" {
		what += " to " + table.ShortPeer(s.MovedTo)
	}
	if s.StillS > 0 {
		what += " (stood still for " + table.Seconds(s.StillS) + ")"
	}
	return what + table.Because(s.Reason)
}
