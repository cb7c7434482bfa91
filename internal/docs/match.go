package docs

import (
	"regexp"
	"strings"
)

var blanks = regexp.MustCompile(`[ \t]+`)

// Match reports whether a command printed what a document shows. In what is shown "..."
// stands for any text within a line, and on a line of its own for any number of lines.
// Runs of blanks count as one, and blanks at the ends of lines do not count.
func Match(shown, printed string) bool {
	var expr strings.Builder
	expr.WriteString(`\A`)
	for line := range strings.Lines(tidy(shown)) {
		if line == "...\n" {
			expr.WriteString(`(?:.*\n)*?`)
			continue
		}
		expr.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`))
	}
	expr.WriteString(`\z`)
	return regexp.MustCompile(expr.String()).MatchString(tidy(printed))
}

// tidy returns text with equal blanks, and an end to its last line.
func tidy(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimSpace(blanks.ReplaceAllString(line, " ")))
		out.WriteByte('\n')
	}
	return out.String()
}
