package main

import (
	"strings"

	"godwit/lab/screen"
	"godwit/overlay"
)

// paintStatus colours what of a node's status an owner looks for first: its state, what he should read, and an
// overlay without a leader. The text is printStatus's, fit to be shown.
func paintStatus(p screen.Painter, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		label, rest, _ := strings.Cut(line, " ")
		switch {
		case label == "state":
			pad := len(rest) - len(strings.TrimLeft(rest, " "))
			word, why, _ := strings.Cut(rest[pad:], " ")
			line = label + " " + rest[:pad] + p.Paint(stateColour(word), word) + " " + why
		case label == "notice":
			line = p.Paint(screen.Notice, label) + " " + rest
		case label == "overlay" && strings.HasSuffix(strings.TrimSpace(rest), "no leader known"):
			line = p.Paint(screen.Notice, label) + " " + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

func stateColour(state string) screen.Colour {
	if state == overlay.Available.String() {
		return screen.Good
	}
	return screen.Notice
}
