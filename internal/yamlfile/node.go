package yamlfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A Pair is one key of a mapping and its value.
type Pair struct {
	Key   string
	Token *token.Token // of the key
	Value ast.Node
}

// Pairs returns the pairs of a mapping in file order, each key once and with a value.
// The error names what the mapping is, such as "a job file".
func Pairs(name string, node ast.Node, what, hint string) ([]Pair, *Error) {
	m, ok := node.(ast.MapNode)
	if !ok {
		return nil, ErrorAt(name, First(node), hint, "%s is a mapping of keys to values, this is %s", what, Kind(node))
	}
	var pairs []Pair
	lines := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		t := it.Key().GetToken()
		p := Pair{Key: t.Value, Token: t, Value: it.Value()}
		if line, found := lines[p.Key]; found {
			return nil, ErrorAt(name, t, "keep one of the two", "%s is given twice, first in line %d", Quote(p.Key), line)
		}
		lines[p.Key] = t.Position.Line
		if Nothing(p.Value) {
			return nil, ErrorAt(name, t, "give it a value, or leave it out", "%s has no value", Quote(p.Key))
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// UnknownKey returns an error on a key that is none of those known; what is the
// mapping that has it.
func UnknownKey(name string, t *token.Token, known []string, what string) *Error {
	hint := fmt.Sprintf("the keys of %s are %s", what, strings.Join(known, ", "))
	if near := Nearest(strings.ToLower(t.Value), known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return ErrorAt(name, t, hint, "unknown key %s", Quote(t.Value))
}

// Text returns the text that a scalar is written in; false of what is none.
func Text(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// Nothing reports whether a key or an element has no value.
func Nothing(node ast.Node) bool { return node == nil || node.Type() == ast.NullType }

// First returns the token that a node begins with. A block mapping's own token
// is its first colon, where nobody would look.
func First(node ast.Node) *token.Token {
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// FirstOr is First(node), or First(around) for an element that is not there.
func FirstOr(node, around ast.Node) *token.Token {
	if node == nil || node.GetToken() == nil {
		return First(around)
	}
	return First(node)
}

// Kind names what a node is, for errors.
func Kind(node ast.Node) string {
	switch node.(type) {
	case ast.MapNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case nil, *ast.NullNode:
		return "nothing"
	}
	if t := node.GetToken(); t != nil {
		return Quote(t.Value)
	}
	return "something else"
}

// Quote quotes text, of long text its beginning: messages stay short whatever a file
// holds.
func Quote(s string) string {
	const most = 64 // bytes
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}
