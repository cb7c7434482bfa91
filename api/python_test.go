package api

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated file anew")

// pythonTypes is the file with the types of the Python client.
const pythonTypes = "../clients/python/godwit/_wire.py"

// TestPythonTypes holds the types of the Python client to the description: they are made from it, and what was
// described since they were may be missing. -update writes them.
func TestPythonTypes(t *testing.T) {
	all := readDescription(t).all
	p := python{all: all, done: map[string]bool{}}
	for _, name := range sortedNames(all) {
		p.class(name, all[name].(map[string]any))
	}
	want := pythonHead + p.out.String()
	if *update {
		if err := os.WriteFile(pythonTypes, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pythonTypes)
	if err != nil {
		t.Fatal(err)
	}
	described := pythonFields(want)
	for field, of := range pythonFields(string(got)) {
		if described[field] != of {
			t.Errorf("%s: %s is %q, and %q by openapi.yaml: run scripts/generate", pythonTypes, field, of, described[field])
		}
	}
	for line := range strings.Lines(want) {
		if len(line) > 121 {
			t.Errorf("a line of %d columns: %s", len(line)-1, line)
		}
	}
}

// pythonFields lists the fields of all classes of a text, with their types.
func pythonFields(text string) map[string]string {
	fields, class := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "class "); ok {
			class = name
		} else if name, of, ok := strings.Cut(line, ": "); ok && class != "" {
			fields[class[:strings.IndexByte(class, '(')]+"."+strings.TrimSpace(name)] = strings.TrimSpace(of)
		}
	}
	return fields
}

const pythonHead = `"""What the node's API takes and answers: made from api/openapi.yaml, not to be edited."""

from __future__ import annotations

from typing import Any, Dict, List, TypedDict
`

// python writes types.
type python struct {
	out  strings.Builder
	all  map[string]any // the named schemas
	done map[string]bool
}

// pythonWords are those of Python's own that stand in descriptions of things.
var pythonWords = []string{"and", "as", "class", "def", "for", "from", "global", "if", "import", "in", "is", "lambda",
	"nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"}

func sortedNames(m map[string]any) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

var pythonName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// class writes the type of an object, after those that it has inside.
func (p *python) class(name string, schema map[string]any) {
	fields, _ := schema["properties"].(map[string]any)
	if p.done[name] || len(fields) == 0 {
		return
	}
	p.done[name] = true
	var lines []string
	for _, f := range sortedNames(fields) {
		of := p.typeOf(name+title(f), fields[f].(map[string]any))
		if !pythonName.MatchString(f) || slices.Contains(pythonWords, f) {
			continue // no name in Python: it is read by its text
		}
		lines = append(lines, fmt.Sprintf("    %s: %s\n", f, of))
	}
	fmt.Fprintf(&p.out, "\n\nclass %s(TypedDict, total=False):\n%s", name, strings.Join(lines, ""))
}

// typeOf is the type of a value; name is that of a class that has to be made for it.
func (p *python) typeOf(name string, schema map[string]any) string {
	if ref, ok := schema["$ref"].(string); ok {
		to := ref[strings.LastIndexByte(ref, '/')+1:]
		if of, _ := p.all[to].(map[string]any); of["properties"] == nil {
			return p.typeOf(to, of)
		}
		return to
	}
	switch schema["type"] {
	case "string":
		return "str"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "boolean":
		return "bool"
	case "array":
		if items, ok := schema["items"].(map[string]any); ok {
			return "List[" + p.typeOf(strings.TrimSuffix(name, "s"), items) + "]"
		}
		return "List[Any]"
	case "object":
		if _, ok := schema["properties"].(map[string]any); ok {
			p.class(name, schema)
			return name
		}
		if values, ok := schema["additionalProperties"].(map[string]any); ok {
			return "Dict[str, " + p.typeOf(name+"Value", values) + "]"
		}
		return "Dict[str, Any]"
	}
	return "Any"
}

// title makes tasks_list TasksList.
func title(name string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			out.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return out.String()
}
