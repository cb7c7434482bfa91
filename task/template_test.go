package task

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var testParams = []EnvVar{{"tile", "7"}, {"q", "lo w"}, {"braces", "{{.q}}"}, {Trial, "0"}}

func TestExpand(t *testing.T) {
	for template, want := range map[string]string{
		"":                          "",
		"plain }} text {":           "plain }} text {",
		"{{.tile}}":                 "7",
		"{{ .tile }}-{{.q}}.png":    "7-lo w.png",
		"{{.tile}}{{.tile}}":        "77",
		`{{"{{"}}.tile}}`:           "{{.tile}}",
		`{{ "{{" }}{{.trial}}`:      "{{0",
		"{{.braces}}":               "{{.q}}", // values are not templates
		"{{{.tile}}":                "error",
		"{{.tile":                   "error",
		"{{}}":                      "error",
		"{{tile}}":                  "error",
		"{{.no}}":                   "error",
		"{{.tile.x}}":               "error",
		"{{range .tile}}":           "error",
		"{{\t.tile}}":               "error",
		strings.Repeat("{{", 10000): "error",
	} {
		got, err := expand(template, testParams)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%.40q expands to %q (%v), want %q", template, got, err, want)
		}
	}
}

// Any text, its braces doubled as the manual says, comes out as it was; and no
// expansion is longer than foreseen.
func TestExpandEscapedAndBounded(t *testing.T) {
	refs := []reference{{"tile", 0, 1}, {"q", 1, 4}, {"braces", 2, 6}, {Trial, 3, 1}}
	piece := rapid.SampledFrom([]string{"{{", "}}", "{", "}", "{{.tile}}", "{{ .q }}", `{{"{{"}}`, "x", "{{.braces}}"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		escaped := DefaultFile("a.wasm", []string{text}).Args[0]
		if got, err := expand(escaped, nil); err != nil || got != text {
			t.Fatalf("%q, escaped as %q, expands to %q, %v", text, escaped, got, err)
		}
		got, err := expand(text, testParams)
		size, sizeErr := expandedSize(text, refs)
		_, mentionErr := mentions(text, refs)
		if (err == nil) != (sizeErr == nil) || (err == nil) != (mentionErr == nil) {
			t.Fatalf("%q: %v, but %v and %v", text, err, sizeErr, mentionErr)
		}
		if err == nil && len(got) > size {
			t.Fatalf("%q expands to %d bytes, foreseen were %d", text, len(got), size)
		}
	})
}

func TestNearest(t *testing.T) {
	for word, want := range map[string]string{
		"tiel": "tile", "til": "tile", "tilee": "tile", "memroy": "memory", "replica": "replicas",
		"x": "", "colour": "", "": "", "tlie": "tile", "checkpiont": "checkpoint", strings.Repeat("a", 1000): "",
	} {
		if got := Nearest(word, append([]string{"tile"}, keys...)); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
}
