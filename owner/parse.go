package owner

import (
	"godwit/internal/yamlfile"
	"godwit/task"
)

// maxFile is the largest file of rules, in bytes.
const maxFile = 64 << 10

// rulesFile is what a file of rules may hold.
var rulesFile = yamlfile.Format{
	Subject:   "the file",
	Has:       "rules are plain keys and values: they have",
	MaxBytes:  maxFile,
	MaxTokens: maxFile,
	MaxNested: 4, // rules need one
	Size:      task.FormatSize,
	Second:    "the file has a second document",
	Long:      "leave out what is not a rule",
	Nested:    "rules are nested once, in hours and overlays",
	One:       "keep one of the two",
}

// Parse reads a file of rules: YAML, one `key: value` a line, with comments.
// What it does not mention keeps its default; an empty file is Default. The name
// is for errors, which are *task.Error and carry line, column and a hint.
func Parse(name string, src []byte) (Rules, error) {
	r := Default()
	pairs, e := topPairs(name, src)
	if e != nil {
		return r, e
	}
	for _, p := range pairs {
		k := findKey(p.Key)
		if k == nil {
			return r, yamlfile.UnknownKey(name, p.Token, Keys(), "the rules")
		}
		if e := apply(name, &r, k, p); e != nil {
			return r, e
		}
	}
	return r, nil
}

func apply(name string, r *Rules, k *key, p yamlfile.Pair) error {
	if k.entries == nil {
		s, ok := text(p.Value)
		if !ok {
			return yamlfile.ErrorAt(name, p.Value.GetToken(), k.hint, "%s is one value", k.name)
		}
		if err := k.set(r, s); err != nil {
			return yamlfile.ErrorAt(name, p.Value.GetToken(), k.hint, "%s: %v", k.name, err)
		}
		return nil
	}
	entries, e := yamlfile.Pairs(name, p.Value, k.name, k.hint)
	if e != nil {
		return e
	}
	k.forget(r)
	// Particular days first: daily fills what they leave.
	for _, daily := range []bool{false, true} {
		for _, c := range entries {
			if (c.Key == "daily" && k.children != nil) != daily {
				continue
			}
			if k.children != nil && !contains(k.children, c.Key) {
				return yamlfile.UnknownKey(name, c.Token, k.children, k.name)
			}
			s, ok := text(c.Value)
			if !ok {
				return yamlfile.ErrorAt(name, c.Value.GetToken(), k.hint, "%s.%s is one value", k.name, c.Key)
			}
			if err := k.entries(r, c.Key, s); err != nil {
				return yamlfile.ErrorAt(name, c.Value.GetToken(), k.hint, "%s.%s: %v", k.name, c.Key, err)
			}
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// clip keeps messages short whatever a file holds.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// topPairs returns the pairs of a file, in its order.
func topPairs(name string, src []byte) ([]yamlfile.Pair, error) {
	top, e := rulesFile.Parse(name, src)
	if e != nil {
		return nil, e
	}
	if top == nil {
		return nil, nil
	}
	pairs, e := yamlfile.Pairs(name, top, "a file of rules", "write KEY: VALUE lines, such as `idle_time_to_run: 5m`")
	if e != nil {
		return nil, e
	}
	return pairs, nil
}
