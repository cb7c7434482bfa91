package simulation

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A scale is what an overlay in cells costs, of one run or by the model: a line of the table of larger ones.
type scale struct {
	Members   float64 `json:"members"`                      // that are up, in the mean
	Cells     float64 `json:"cells"`                        // in the mean
	Adverts   float64 `json:"adverts_heard_per_h"`          // by each member
	Summaries float64 `json:"summaries_heard_per_h"`        // by each leader
	Messages  float64 `json:"messages_per_member_per_s"`    // between machines
	Takeovers float64 `json:"takeovers_per_cell_per_day"`   // beyond the first of each
	Placed    float64 `json:"placed_per_s"`                 // tasks, while there are some; of two minutes in the model
	MB        float64 `json:"advert_mb_per_member_per_day"` // what the adverts cost each member
}

// advertBytes is what a renewal costs a member that hears it, with the connections that bring it: as
// docs/measured.md has it of 1,000 members' adverts on 12 libp2p hosts, 2.4 kB. It is not of these runs.
const advertBytes = 2400

const (
	hoursADay = 24
	mega      = 1e6
)

// A cellRun is what a run of an overlay in cells came to, all its members together.
type cellRun struct {
	hosts                                   int     // of the trace, up or not
	hours                                   float64 // by the machines' clock
	members, cells                          float64 // up, and cells, in the mean
	adverts, summaries, messages, takeovers float64 // heard, heard, sent; and leaders that did not lead before
	placed                                  float64 // tasks a second, from the first one's arrival
}

// scale is what a run came to, for each of its members.
func (r *cellRun) scale() scale {
	if r.members == 0 || r.cells == 0 || r.hours == 0 { // nobody ever came, or led
		return scale{}
	}
	return scaleOf(r.members, r.cells, scale{Adverts: r.adverts / r.members / r.hours,
		Summaries: r.summaries / r.cells / r.hours, Messages: r.messages / r.members / (r.hours * 3600),
		Takeovers: max(0, r.takeovers-r.cells) / r.cells / r.hours * hoursADay, Placed: r.placed})
}

func scaleOf(members, cells float64, s scale) scale {
	s.Members, s.Cells, s.MB = members, cells, s.Adverts*hoursADay*advertBytes/mega
	return s
}

// A model says what members do to each other, whatever their number: each constant is fitted to runs.
type model struct {
	starts    float64 // adverts of a member because it, or all at once, began
	adverts   float64 // of a member in an hour, for whatever reason
	summaries float64 // of a leader in an hour
	messages  float64 // of a member in a second
	takeovers float64 // of a cell in an hour, beyond the first leader
	placed    float64 // for a member in a second: as many as it has room for
}

// fitModel fits a model to runs by least squares of relative errors: what a run of 20,000 members came to weighs
// no more than what one of 1,000 did.
func fitModel(runs []cellRun) (m model) {
	var aa, ab, bb, a, b float64 // of the normal equations for starts and adverts
	var summaries, messages, placed slope
	var led, taken float64
	for i := range runs {
		r := &runs[i]
		each := r.members * (r.members/r.cells - 1) / r.adverts // an advert is heard by all others of its cell
		rate := each * r.hours
		aa, ab, bb, a, b = aa+each*each, ab+each*rate, bb+rate*rate, a+each, b+rate
		summaries.add(r.cells*(r.cells-1)*r.hours, r.summaries)
		messages.add(r.members*r.hours*3600, r.messages)
		placed.add(r.members, r.placed)
		led, taken = led+r.cells*r.hours, taken+max(0, r.takeovers-r.cells)
	}
	if d := aa*bb - ab*ab; d != 0 {
		m.starts, m.adverts = (a*bb-b*ab)/d, (b*aa-a*ab)/d
	}
	m.summaries, m.messages, m.placed = summaries.fit(), messages.fit(), placed.fit()
	if led > 0 {
		m.takeovers = taken / led // too few in some runs for their errors to say anything
	}
	return m
}

// A slope fits y = k x to points by least squares of relative errors.
type slope struct{ xx, x float64 }

func (s *slope) add(x, y float64) {
	if y > 0 {
		s.xx, s.x = s.xx+x/y*x/y, s.x+x/y
	}
}

func (s *slope) fit() float64 {
	if s.xx == 0 {
		return 0
	}
	return s.x / s.xx
}

// of is what the model has of a run as long and large as another.
func (m model) of(r cellRun) scale {
	if r.members == 0 || r.cells == 0 || r.hours == 0 {
		return scale{}
	}
	each := max(0, r.members/r.cells-1)
	return scaleOf(r.members, r.cells, scale{Adverts: (m.starts/r.hours + m.adverts) * each,
		Summaries: m.summaries * max(0, r.cells-1), Messages: m.messages, Takeovers: m.takeovers * hoursADay,
		Placed: m.placed * r.members})
}

// lasting is what the model has of so many members that have long been there.
func (m model) lasting(members, cells float64) scale {
	m.starts = 0
	return m.of(cellRun{members: members, cells: cells, hours: 1})
}

// asked are the members and cells of the model that no run has: cells of some 390 members, as those divide that
// have more than 500.
const askedMembers, askedCells = 100_000, 256

// printScale sets the runs that the model is fitted to, and this command's, beside the model, and what that has
// of an overlay that is larger than any run.
func printScale(w io.Writer, results []result) error {
	m := fitModel(fittedRuns)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nOVERLAY\tMEMBERS\tCELLS\tADVERTS/H\tSUMMARIES/H\tMESSAGES/S\tTAKEOVERS/DAY\t"+
		"PLACED/S\tMB/DAY\t")
	line := func(name string, s scale) {
		fmt.Fprintf(t, "%s\t%.0f\t%.1f\t%.0f\t%.1f\t%.2f\t%.2f\t%.1f\t%.0f\t\n", name, s.Members, s.Cells, s.Adverts,
			s.Summaries, s.Messages, s.Takeovers, s.Placed, s.MB)
	}
	for i := range fittedRuns {
		r := &fittedRuns[i]
		line(fmt.Sprintf("run of %d hosts", r.hosts), r.scale())
		line("model", m.of(*r))
	}
	for _, r := range results {
		line(fmt.Sprintf("this run, %s, seed %d", r.Policy, r.Seed), r.cells.run.scale())
		line("model", m.of(r.cells.run))
	}
	line("model", m.lasting(askedMembers, askedCells))
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `The model is fitted to %d runs (docs/measured.md): a member says %.2f adverts when it begins
and %.2f an hour, and %.2f messages a second; a leader %.1f summaries an hour; a cell has another leader %.2f times
a day; tasks of two minutes are placed as members have room. Adverts are heard by each member, summaries by
each leader. MB are adverts at %d bytes each, measured on libp2p.
`, len(fittedRuns), m.starts, m.adverts, m.messages, m.summaries, m.takeovers*hoursADay, advertBytes)
	return err
}
