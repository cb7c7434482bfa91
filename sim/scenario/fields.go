package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
	"godwit/sim"
	"godwit/task"
)

// A field is a key that a mapping may have, and how its value is read. The
// reader is told the key's path, such as "hosts.slots".
type field struct {
	key  string
	read func(where string, node ast.Node) *task.Error
}

// mapping reads the keys of a mapping, each at most once, and remembers where
// their values stand.
func (s *source) mapping(where string, node ast.Node, fields []field) *task.Error {
	what := where
	if what == "" {
		what = "a scenario"
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	m, ok := node.(ast.MapNode)
	if !ok {
		return s.errorAt(yamlfile.First(node), "its keys are "+strings.Join(keys, ", "),
			"%s is a mapping of keys to values, this is %s", what, yamlfile.Kind(node))
	}
	lines := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		t, value := it.Key().GetToken(), it.Value()
		i := slices.Index(keys, t.Value)
		switch line, twice := lines[t.Value]; {
		case twice:
			return s.errorAt(t, "keep one of the two", "%s is given twice, first in line %d", yamlfile.Quote(t.Value), line)
		case i < 0:
			return yamlfile.UnknownKey(s.name, t, keys, what)
		case yamlfile.Nothing(value):
			return s.errorAt(t, "give it a value, or leave it out", "%s has no value", yamlfile.Quote(t.Value))
		}
		lines[t.Value] = yamlfile.At(t).Line
		path := t.Value
		if where != "" {
			path = where + "." + t.Value
		}
		s.places[path] = yamlfile.At(yamlfile.First(value))
		if e := fields[i].read(path, value); e != nil {
			return e
		}
	}
	return nil
}

// nested reads a mapping within a mapping.
func (s *source) nested(fields ...field) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error { return s.mapping(where, node, fields) }
}

// each reads a list of at most most elements, or one element alone. It calls
// read for each.
func (s *source) each(where string, node ast.Node, most int,
	read func(where string, node ast.Node) *task.Error) *task.Error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return read(where, node)
	}
	if n := len(list.Values); n == 0 || n > most {
		return s.errorAt(yamlfile.First(node), "", "%s has %d elements: it takes 1 to %d", where, n, most)
	}
	for i, v := range list.Values {
		path := fmt.Sprintf("%s[%d]", where, i)
		if yamlfile.Nothing(v) {
			return s.errorAt(yamlfile.First(node), "leave it out", "%s has no value", path)
		}
		s.places[path] = yamlfile.At(yamlfile.First(v))
		if e := read(path, v); e != nil {
			return e
		}
	}
	return nil
}

// scalar makes a reader of one value from one of its text: set says what is
// wrong with the text.
func (s *source) scalar(hint string, set func(text string) error) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error {
		text, e := s.text(where, node)
		if e != nil {
			return e
		}
		if err := set(text); err != nil {
			return s.errorAt(yamlfile.First(node), hint, "%s: %v", where, err)
		}
		return nil
	}
}

// text returns the text that a scalar is written in.
func (s *source) text(where string, node ast.Node) (string, *task.Error) {
	text, ok := yamlfile.Text(node)
	if !ok {
		return "", s.errorAt(yamlfile.First(node), "quote text that has brackets, braces or colons",
			"%s is one value, this is %s", where, yamlfile.Kind(node))
	}
	return text, nil
}

func (s *source) stringTo(to *string) func(string, ast.Node) *task.Error {
	return s.scalar("", func(text string) error { *to = text; return nil })
}

// duration reads a length of time from least on.
func (s *source) duration(to *time.Duration, least time.Duration) func(string, ast.Node) *task.Error {
	return s.scalar("write a number with a unit, such as 90s, 5m or 2h30m", func(text string) error {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return fmt.Errorf("%s is not a length of time", yamlfile.Quote(text))
		case d < least:
			return fmt.Errorf("%s is too short: it is %v or more", text, least)
		}
		*to = d
		return nil
	})
}

// every reads how long is between two checkpoints, or auto.
func (s *source) every(to *sim.Checkpoints) func(string, ast.Node) *task.Error {
	return s.scalar("write a number with a unit, such as 5m, or auto",
		func(text string) error { return SetEvery(to, text) })
}

// Auto is the word for checkpoints whose interval is chosen for each run.
const Auto = "auto"

// SetEvery sets how often tasks are saved from text: a length of time, 0 for
// never, or Auto.
func SetEvery(to *sim.Checkpoints, text string) error {
	if text == Auto {
		to.Auto, to.Every = true, 0
		return nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s is neither a length of time nor %s", yamlfile.Quote(text), Auto)
	case d < 0:
		return fmt.Errorf("%s is too short: it is 0s or more", yamlfile.Quote(text))
	}
	to.Auto, to.Every = false, d
	return nil
}

// count reads a whole number between two.
func (s *source) count(to *int, least, most int) func(string, ast.Node) *task.Error {
	return s.scalar("write a whole number, such as 3", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%s is not a whole number from %d to %d", yamlfile.Quote(text), least, most)
		}
		*to = n
		return nil
	})
}

// seed reads a whole number of 64 bits without sign.
func (s *source) seed(to *uint64) func(string, ast.Node) *task.Error {
	return s.scalar("write a whole number from 0 on", func(text string) (err error) {
		if *to, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("%s is not a seed", yamlfile.Quote(text))
		}
		return nil
	})
}

// size reads a number of bytes.
func (s *source) size(to *int64) func(string, ast.Node) *task.Error {
	return s.scalar("write a size such as 256MiB; units are B, KiB, MiB, GiB, KB, MB and GB",
		func(text string) (err error) {
			*to, err = task.ParseSize(text)
			return err
		})
}

// rate reads bytes a second.
func (s *source) rate(to *float64) func(string, ast.Node) *task.Error {
	return s.scalar("write bytes a second, such as 1MiB; 0 is no bound", func(text string) error {
		n, err := task.ParseSize(text)
		*to = float64(n)
		return err
	})
}

// seconds reads a length of time, in seconds.
func (s *source) seconds(to *float64) func(string, ast.Node) *task.Error {
	var d time.Duration
	read := s.duration(&d, 0)
	return func(where string, node ast.Node) *task.Error {
		e := read(where, node)
		*to = d.Seconds()
		return e
	}
}

func (s *source) boolean(to *bool) func(string, ast.Node) *task.Error {
	return s.scalar("write true or false", func(text string) error {
		if text != "true" && text != "false" {
			return fmt.Errorf("%s is neither true nor false", yamlfile.Quote(text))
		}
		*to = text == "true"
		return nil
	})
}

// choice reads one of the names of a type's values, which are 0, 1 and so on.
func choice[T ~uint8](s *source, to *T, names ...string) func(string, ast.Node) *task.Error {
	return s.scalar("it is one of "+strings.Join(names, ", "), func(text string) error {
		i := slices.Index(names, text)
		if i < 0 {
			return fmt.Errorf("there is no %s", yamlfile.Quote(text))
		}
		*to = T(i)
		return nil
	})
}
