package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

// documents are all that a reader may open, by their paths from the project's root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/spec/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(root, p)
			out[filepath.ToSlash(rel)] = string(text)
		}
	}
	return out
}

func TestReadmeIsShort(t *testing.T) {
	const most = 700
	if n := len(strings.Fields(documents(t)["README.md"])); n > most {
		t.Errorf("README.md has %d words, at most %d", n, most)
	}
}

// TestCommandsAreTried: what a reader may type stands in a block that scripts/docs knows.
func TestCommandsAreTried(t *testing.T) {
	command := regexp.MustCompile(`^ {4}(\$ )?(\./godwit|godwit|\./scripts|scripts|go|make) `)
	for path, text := range documents(t) {
		if _, err := Blocks(text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		fenced := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if !fenced && command.MatchString(line) {
				t.Errorf("%s:%d: a command that nobody tries: put it into a ```sh block", path, i+1)
			}
		}
	}
}

// TestLinks: every link within the project leads somewhere, to a heading if it names one.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docs := documents(t)
	for from, text := range docs {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, heading, _ := strings.Cut(m[1], "#")
			path := from
			if target != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(from), target))
			}
			if missing(path) {
				t.Errorf("%s: the link %s leads nowhere", from, m[1])
			} else if heading != "" && !slices.Contains(anchors(docs[path]), heading) {
				t.Errorf("%s: %s has no heading #%s", from, path, heading)
			}
		}
	}
}

// missing reports whether the project has no such file or directory.
func missing(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err != nil
}

// anchors returns the names of a document's headings as links have them.
func anchors(text string) (out []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#"))) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		out = append(out, b.String())
	}
	return out
}

// TestCitations: what a comment in the code cites is there: the document, and the
// question of docs/rationale.md.
func TestCitations(t *testing.T) {
	cited := regexp.MustCompile(`\bdocs/[\w./-]+\.md`)
	question := regexp.MustCompile(`rationale\.md, (Why [^?]+\?)`)
	joined := regexp.MustCompile(`\s*\n\s*//\s*`)
	questions := documents(t)["docs/rationale.md"]
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(d.Name(), ".") && path != root; d.IsDir() && (hidden || d.Name() == "testdata") {
			return fs.SkipDir
		}
		// These two have citations of documents that are not there, to be found.
		mine := strings.HasPrefix(path, filepath.Join(root, "internal", "docs"))
		if filepath.Ext(path) != ".go" || mine || path == filepath.Join(root, "internal", "house", "house_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range cited.FindAllString(string(src), -1) {
			if missing(c) {
				t.Errorf("%s cites %s, which is not there", path, c)
			}
		}
		for _, m := range question.FindAllStringSubmatch(joined.ReplaceAllString(string(src), " "), -1) {
			if !strings.Contains(questions, "### "+m[1]+"\n") {
				t.Errorf("%s: docs/rationale.md has no question %q", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
