package api

import (
	"slices"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

func TestParseTasks(t *testing.T) {
	for text, want := range map[string][]message.Range{
		"5":             {{From: 5, To: 6}},
		"5-20,30":       {{From: 5, To: 21}, {From: 30, To: 31}},
		"7-7":           {{From: 7, To: 8}},
		"":              nil,
		"1,":            nil,
		"3-1":           nil,
		"0x5":           nil,
		"1000000000000": nil,
	} {
		got, err := parseTasks(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// Whatever text comes, what is read are ranges of tasks that a job may have.
func FuzzParseTasks(f *testing.F) {
	f.Add("5-20,30")
	f.Fuzz(func(t *testing.T, text string) {
		ranges, err := parseTasks(text)
		for _, r := range ranges {
			if err != nil || r.From >= r.To || r.To > task.MaxTasks {
				t.Fatalf("%q is %v, %v", text, ranges, err)
			}
		}
	})
}
