package task

import (
	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
)

// confirmKeys are the keys of confirm.
var confirmKeys = []string{"when"}

// readConfirm reads which results are all run again.
func (r *reader) readConfirm(node ast.Node) *Error {
	const hint = `write confirm: {when: "stdout contains FOUND"}; conditions are OUTPUT contains TEXT, ` +
		"OUTPUT matches REGEXP, OUTPUT exists, and exit code N"
	pairs, e := yamlfile.Pairs(r.source, node, "confirm", hint)
	if e != nil {
		return e
	}
	if len(pairs) == 0 {
		return r.errorAtToken(yamlfile.First(node), hint, "confirm does not say when")
	}
	for _, p := range pairs {
		if p.Key != "when" {
			return yamlfile.UnknownKey(r.source, p.Token, confirmKeys, "confirm")
		}
		s, e := r.text(p.Value, "when")
		if e != nil {
			return e
		}
		if _, err := ParseCondition(s); err != nil {
			return r.errorAtToken(yamlfile.First(p.Value), hint, "confirm: %v", err)
		}
		r.mark("confirm", p.Value)
		r.Verify = r.Verify.with(s)
	}
	return nil
}
