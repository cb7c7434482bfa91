package progress

import (
	"cmp"
	"fmt"
	"time"

	"godwit/lab/table"
	"godwit/task"
)

const (
	// leastImport is how many bytes a job's inputs have of which it is shown that they are stored: fewer
	// are there before anybody has read it.
	leastImport = 16 << 20
	// drawEvery is how often the bar is drawn at most.
	drawEvery = 100 * time.Millisecond
)

// Import shows that so many of so many bytes of a job's inputs are stored. It is a
// submission.Import.
func (p *Progress) Import(done, total int64) {
	if p.Quiet || total < leastImport {
		return
	}
	now, ended := time.Now(), done >= total
	every := PlainEvery
	if p.Terminal {
		every = drawEvery
	}
	if !ended && now.Sub(p.last) < every {
		return
	}
	p.last = now
	took := now.Sub(p.begun)
	line := fmt.Sprintf("%s of %s of inputs %s, %s", task.FormatSize(done), task.FormatSize(total),
		cmp.Or(p.Imports, "stored"), table.Rough(took))
	if left := time.Duration(float64(took) * float64(total-done) / float64(max(done, 1))); !ended && done > 0 {
		line += ", about " + table.Rough(left.Round(time.Second)) + " to go"
	}
	if !p.Terminal {
		fmt.Fprintln(p.Out, line)
		return
	}
	p.draw(float64(done)/float64(max(total, 1)), line, false)
}

// Begin has the time of what is shown from now on begin now.
func (p *Progress) Begin() {
	p.Done()
	p.begun, p.last = time.Now(), time.Time{}
}
