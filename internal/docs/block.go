package docs

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Block is one fenced block of a document, with the ```output block behind it if there
// is one.
type Block struct {
	Line   int    // of the opening fence, from 1
	Kind   string // what stands behind the fence: sh, go, yaml...
	Text   string // without the fences; lines end in \n
	File   string // where the text in front says the reader saves it ("... as `FILE`:"), or ""
	Output string // of the ```output block that follows; see Match
	Marks  Marks
}

// Marks are what comments at the beginning of a block of commands say of it.
type Marks struct {
	Own      bool          // "# in a terminal of its own": it goes on in the background
	Takes    time.Duration // "# takes 3 minutes", 0 if nothing is said
	ExitCode int           // "# fails with exit code 2"
	NotTried string        // "# not tried: REASON"
	Needs    string        // "# needs COMMAND": it is left out where that fails
}

// ErrFence is what Blocks returns, wrapped, for a block without an end.
var ErrFence = errors.New("docs: a block has no end")

var (
	saved = regexp.MustCompile("as `([^`]+)`:$")
	takes = regexp.MustCompile(`^takes (\d+) (second|minute|hour)s?$`)
	units = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}
)

// Blocks returns the fenced blocks of a document in order.
func Blocks(text string) ([]Block, error) {
	var out []Block
	var before string // the last line that is not empty
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		kind, opens := strings.CutPrefix(lines[i], "```")
		if !opens {
			if s := strings.TrimSpace(lines[i]); s != "" {
				before = s
			}
			continue
		}
		b := Block{Line: i + 1, Kind: kind}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			b.Text += lines[i] + "\n"
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: %w", b.Line, ErrFence)
		}
		if kind == "output" {
			if before != "```" || out[len(out)-1].Kind != "sh" {
				return nil, fmt.Errorf("line %d: an output block follows no sh block", b.Line)
			}
			out[len(out)-1].Output = b.Text
			continue
		}
		if m := saved.FindStringSubmatch(before); m != nil && kind != "sh" {
			b.File = m[1]
		}
		if kind == "sh" {
			b.Marks = readMarks(b.Text)
		}
		out, before = append(out, b), "```"
	}
	return out, nil
}

// readMarks reads the comments that a block of commands begins with.
func readMarks(text string) (m Marks) {
	for line := range strings.Lines(text) {
		says, isComment := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "# ")
		if !isComment {
			break
		}
		if says == "in a terminal of its own" {
			m.Own = true
		} else if t := takes.FindStringSubmatch(says); t != nil {
			n, _ := strconv.Atoi(t[1])
			m.Takes = time.Duration(n) * units[t[2]]
		} else if code, ok := strings.CutPrefix(says, "fails with exit code "); ok {
			m.ExitCode, _ = strconv.Atoi(code)
		} else if reason, ok := strings.CutPrefix(says, "not tried: "); ok {
			m.NotTried = reason
		} else if command, ok := strings.CutPrefix(says, "needs "); ok {
			m.Needs = command
		}
	}
	return m
}
