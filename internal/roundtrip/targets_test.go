package roundtrip

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
)

const root = "../.."

// targets has the fuzz target of each type that docs/protocol.md says goes over the wire, by
// the name that the page gives it. Each calls Check or Same.
var targets = map[string]struct{ dir, name string }{
	"/godwit/hello/1":           {"p2p", "FuzzHello"},
	"/godwit/adverts/2/OVERLAY": {"overlay", "FuzzOpenAdvert"},
	"/godwit/hello/2":           {"p2p", "FuzzHello"},
	"/godwit/compare/1":         {"p2p", "FuzzLists"},

	"/godwit/adverts/2/OVERLAY/BITS": {"overlay", "FuzzOpenAdvert"},
	"/godwit/summaries/1/OVERLAY":    {"overlay", "FuzzOpenSummary"},

	"/godwit/frame/1":    {"node", "FuzzAddressee"},
	"/godwit/request/1":  {"p2p", "FuzzQuestion"},
	"/godwit/urgent/1":   {"p2p", "FuzzAnswer"},
	"/godwit/blocks/1":   {"blocks", "FuzzWants"},
	"/godwit/handover/1": {"migrate/handover", "FuzzDecode"},
	"/godwit/kad/1.0.0":  {"p2p", "FuzzProviders"},

	"len frame":     {"p2p/wire", "FuzzFrame"},
	"blocks":        {"blocks", "FuzzBlock"},
	"messages":      {"scheduler", "FuzzDecodeFrame"},
	"row":           {"scheduler/ledger", "FuzzDecodeRow"},
	"facts":         {"scheduler/ledger", "FuzzDecodeFacts"},
	"record":        {"task", "FuzzDecodeRecord"},
	"result":        {"task", "FuzzDecodeResult"},
	"time":          {"task", "FuzzTime"},
	"spells":        {"trace", "FuzzDecodeSpells"},
	"segment":       {"overlay", "FuzzOpenSegment"},
	"survival":      {"predictor", "FuzzRecord"},
	"manifest text": {"overlay", "FuzzOpenManifest"},
	"ticket":        {"overlay", "FuzzParseTicket"},
	"place":         {"overlay", "FuzzUnpackPlaces"},
	"list of peers": {"p2p/bootstrap", "FuzzParse"},
	"pass":          {"overlay", "FuzzAdmits"},

	"ping":       {"p2p", "FuzzQuestion"}, // has no body
	"lease":      {"node", "FuzzQueries"},
	"probe":      {"node", "FuzzQueries"},
	"manifest":   {"node", "FuzzQueries"},
	"jobs":       {"node", "FuzzQueries"},
	"job":        {"node", "FuzzQueries"},
	"why":        {"node", "FuzzQueries"},
	"submitted":  {"node", "FuzzQueries"},
	"grid":       {"node", "FuzzQueries"},
	"key":        {"node", "FuzzQueries"},
	"scheduling": {"node", "FuzzQueries"},
	"history":    {"node", "FuzzHistory"},
	"cells":      {"node", "FuzzReadCells"},
	"proofs":     {"node", "FuzzQueries"},
	"tallies":    {"node", "FuzzQueries"},
	"tally":      {"task", "FuzzTally"},
	"shown":      {"node", "FuzzQueries"},
	"thanks":     {"task", "FuzzThanks"},
	"credit":     {"node", "FuzzQueries"},
	"statement":  {"task/referee", "FuzzStatement"},
	"states":     {"task", "FuzzDecodeKept"},
	"summary":    {"overlay", "FuzzOpenSummary"},
}

// TestEveryTypeHasATarget: each target is there and looks at the round trip.
func TestEveryTypeHasATarget(t *testing.T) {
	for kind, target := range targets {
		if !checks(t, filepath.Join(root, target.dir), target.name) {
			t.Errorf("%s: %s of %s is not there, or calls neither roundtrip.Check nor roundtrip.Same", kind, target.name,
				target.dir)
		}
	}
}

// checks reports whether a directory's tests have a function that calls Check or Same.
func checks(t *testing.T, dir, name string) (found bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
				ast.Inspect(fn, func(n ast.Node) bool {
					s, ok := n.(*ast.SelectorExpr)
					if ok && (s.Sel.Name == "Check" || s.Sel.Name == "Same") {
						x, ok := s.X.(*ast.Ident)
						found = found || ok && x.Name == "roundtrip"
					}
					return true
				})
			}
		}
	}
	return found
}

// TestEveryProtocolIsNamed: the protocols and the methods of requests that docs/protocol.md
// lists are among the targets.
func TestEveryProtocolIsNamed(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "docs/protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	section := func(from string) string {
		_, rest, ok := strings.Cut(page, from)
		if !ok {
			t.Fatalf("docs/protocol.md has no %q", from)
		}
		table, _, _ := strings.Cut(rest, "\n\n")
		return table
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z/0-9A-Z]+)`")
	for _, table := range []string{section("| protocol | for | limits |\n"), section("| method | body | answer |\n")} {
		rows := row.FindAllStringSubmatch(table, -1)
		if len(rows) < 5 {
			t.Fatalf("%d rows of a table are read", len(rows))
		}
		for _, m := range rows {
			if _, ok := targets[m[1]]; !ok && !strings.HasPrefix(m[1], "/libp2p/") {
				t.Errorf("%s goes over the wire and has no target", m[1])
			}
		}
	}
}

// TestEveryKindOfMessageIsASeed: the fuzzer of frames begins with one of each kind.
func TestEveryKindOfMessageIsASeed(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range schedtest.EveryMessage(t) {
		seen[m.Kind()] = true
	}
	for i := range reflect.TypeFor[message.Message]().NumField() {
		if kind := strings.ToLower(reflect.TypeFor[message.Message]().Field(i).Name); !seen[kind] {
			t.Errorf("schedtest.EveryMessage has no %s", kind)
		}
	}
}

type failed string

func (f *failed) Helper()                      {}
func (f *failed) Fatalf(text string, _ ...any) { *f = failed(text); panic(f) }

// TestCheckFails: what is lost or changed on the way is found.
func TestCheckFails(t *testing.T) {
	read := func(b []byte) (string, error) { return string(b), nil }
	for name, write := range map[string]func(string) ([]byte, error){
		"cannot be written": func(string) ([]byte, error) { return nil, os.ErrInvalid },
		"grows":             func(s string) ([]byte, error) { return []byte(s + "x"), nil },
	} {
		f := new(failed)
		func() {
			defer func() { _ = recover() }()
			Check(f, "a", write, read)
		}()
		if *f == "" {
			t.Errorf("what %s passes", name)
		}
	}
	Same(t, []byte("a"), "a", func(s string) ([]byte, error) { return []byte(s), nil }, read)
}
