package view

import "encoding/json"

// MaxBytes bounds what a page is sent for one question, as JSON: a tenth of a second of a slow line, and no more
// than a browser reads and draws at once.
const MaxBytes = 200_000

// A list's share of MaxBytes: in each answer they leave room for what stands beside them.
const (
	// MostRows is for a list that is most of its answer.
	MostRows = MaxBytes * 3 / 4
	// SomeRows is for one of several.
	SomeRows = MaxBytes / 5
)

// Within returns the first rows that are at most so many bytes as JSON. Texts of other nodes differ in length by a
// thousand times, so that a number of rows does not bound them.
func Within[Row any](rows []Row, bytes int) []Row {
	for i := range rows {
		b, err := json.Marshal(&rows[i])
		if err != nil {
			return rows[:i] // it could not be sent either
		}
		if bytes -= len(b) + len(","); bytes < 0 {
			return rows[:i]
		}
	}
	return rows
}
