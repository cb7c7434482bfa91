package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func spanned(node, from, to int) span { return span{node, at(from), at(to)} }

func TestWithout(t *testing.T) {
	had := []span{spanned(0, 0, 100), spanned(1, 0, 100)}
	for name, c := range map[string]struct{ taken, left []span }{
		"nothing":    {nil, had},
		"all of one": {[]span{spanned(0, -5, 200)}, had[1:]},
		"the middle": {[]span{spanned(1, 40, 60)}, []span{had[0], spanned(1, 0, 40), spanned(1, 60, 100)}},
		"they overlap": {[]span{spanned(0, 60, 100), spanned(0, 0, 50), spanned(0, 10, 20)},
			[]span{spanned(0, 50, 60), had[1]}},
	} {
		if left := without(had, c.taken); !slices.Equal(left, c.left) {
			t.Errorf("%s: %v, want %v", name, left, c.left)
		}
	}
}

func TestUsed(t *testing.T) {
	c := newCourse()
	var d disposal
	d.note(at(c.now), []int{0, 1})
	c.runs(0, 10, 0, 400)    // 0 to 400
	c.shows(0, 10, 400, 599) // stands until 1000
	c.gone(10)
	d.note(at(1500), []int{0}) // the owner of 1 is back
	there, ran := c.Spans()
	had := d.Until(at(2000))
	if total(had) != 3500*time.Millisecond {
		t.Fatalf("to be had: %v", had)
	}
	var r report
	r.used(had, there, ran)
	var told []string
	for _, f := range r.Figures {
		told = append(told, f.Value)
	}
	if got := strings.Join(told, "|"); !strings.HasPrefix(got, "11 % of 3.5 s|17 %; 71 %|") ||
		!strings.Contains(got, "for 1.5 s") {
		t.Errorf("told: %s", got)
	}
}
