package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"godwit/internal/house"
)

const (
	module   = "godwit"
	rootPath = "../.."
	maxLines = 600 // a longer file usually holds two ideas
)

// A rule says what the packages of one room may import, their tests aside.
type rule struct {
	own     []string // rooms of this module
	outside []string // prefixes of module paths
	core    bool     // pure: see impure
}

var codec = []string{"github.com/fxamacker/cbor/v2"}

// rules has one entry for each room: docs/architecture.md section 2.
var rules = map[string]rule{
	"task": {core: true, own: []string{"internal/yamlfile"},
		outside: []string{"github.com/fxamacker/cbor/v2", "github.com/goccy/go-yaml", "github.com/ipfs/go-cid",
			"github.com/multiformats/go-multihash", "github.com/multiformats/go-multibase"}},

	"task/referee": {own: []string{"task"}},

	"task/table": {own: []string{"task"}},

	"trace": {core: true, own: []string{"internal/spec", "task"}, outside: []string{"github.com/klauspost/compress/"}},

	"predictor": {core: true, own: []string{"task", "trace", "internal/spec"}, outside: []string{"gonum.org/v1/gonum/"}},

	"predictor/histories": {core: true, own: []string{"task", "trace", "predictor"}},

	"overlay": {core: true, own: []string{"task", "trace", "predictor"},
		outside: append(codec, "github.com/multiformats/go-multiaddr")},

	"scheduler": {core: true, own: []string{"internal/heap", "task", "overlay", "predictor", "migrate", "scheduler/ledger",
		"scheduler/place", "scheduler/place/allot", "scheduler/share", "scheduler/chunk", "scheduler/message",
		"scheduler/durable", "scheduler/timer", "scheduler/replication", "scheduler/learning", "scheduler/leasing",
		"scheduler/worker", "scheduler/submitter"}, outside: codec},

	"member": {core: true, own: []string{"credibility", "task", "trace", "predictor", "predictor/histories", "overlay", "scheduler",
		"scheduler/message", "scheduler/worker", "scheduler/submitter", "scheduler/place", "scheduler/authority"}},

	"ending": {core: true, own: []string{"internal/heap", "predictor", "scheduler/place", "task", "trace"}},

	"reproduce/ends": {core: true, own: []string{"ending", "predictor", "sim", "task", "trace"}},

	"scheduler/authority": {core: true, own: []string{"task", "scheduler/message"}},

	"scheduler/message": {core: true, own: []string{"task", "overlay", "scheduler/ledger"}, outside: codec},

	"scheduler/durable": {core: true, own: []string{"task", "scheduler/ledger"}},

	"scheduler/timer": {core: true, own: []string{"internal/heap"}},

	"scheduler/leasing": {core: true},

	"scheduler/learning": {core: true, own: []string{"task"}},

	"scheduler/replication": {core: true, own: []string{"task", "scheduler/ledger", "scheduler/message"}},

	"scheduler/worker": {core: true, own: []string{"task", "overlay", "scheduler/ledger", "scheduler/message",
		"scheduler/durable", "scheduler/timer"}},

	"scheduler/submitter": {core: true, own: []string{"credibility", "task", "scheduler/ledger", "scheduler/message",
		"scheduler/durable", "scheduler/memo", "scheduler/timer"}},

	"scheduler/memo": {core: true, own: []string{"task", "scheduler/ledger", "scheduler/message"}},

	"scheduler/schedtest": {own: []string{"task", "scheduler/ledger", "scheduler/message"}},

	"scheduler/ledger": {core: true, own: []string{"task"}, outside: codec},

	"scheduler/chunk": {core: true, own: []string{"internal/spec"}},

	"scheduler/place": {core: true, own: []string{"task", "internal/spec", "predictor", "scheduler/place/allot"}},

	"scheduler/place/allot": {core: true},

	"scheduler/share": {core: true, own: []string{"internal/spec"}},

	"migrate": {core: true, own: []string{"task", "trace", "predictor", "internal/spec"}},

	"migrate/handover": {core: true, own: []string{"task"}},

	"sim": {core: true, own: []string{"internal/heap", "task", "trace", "predictor", "migrate", "scheduler/place",
		"scheduler/share", "scheduler/chunk", "internal/spec"}},

	"sim/swarm": {core: true, own: []string{"member", "task", "trace", "predictor", "overlay", "migrate", "scheduler",
		"scheduler/message", "scheduler/worker", "scheduler/submitter", "scheduler/ledger", "scheduler/place", "sim",
		"internal/spec", "internal/heap"}},

	"sim/report": {core: true, own: []string{"task", "sim"}, outside: []string{"gonum.org/v1/gonum/stat",
		"gonum.org/v1/plot"}},

	"sim/scenario": {core: true, own: []string{"internal/yamlfile", "task", "trace", "scheduler/place",
		"scheduler/share", "scheduler/chunk", "migrate", "predictor", "sim"}, outside: []string{"github.com/goccy/go-yaml"}},

	"reproduce": {core: true, own: []string{"trace", "sim"}, outside: []string{"gonum.org/v1/gonum/stat"}},

	"p2p": {own: []string{"task", "overlay", "migrate/handover", "p2p/cost", "p2p/portmap", "p2p/wire", "internal/pause"},
		outside: []string{"github.com/libp2p/", "github.com/multiformats/", "golang.org/x/",
			"google.golang.org/protobuf/"}},

	"p2p/cost":      {own: []string{"task", "internal/pause"}, outside: []string{"golang.org/x/time"}},
	"p2p/bootstrap": {own: []string{"internal/signed", "overlay", "task"}},
	"p2p/portmap":   {outside: []string{"github.com/libp2p/go-netroute"}},
	"p2p/wire":      {own: []string{"internal/pause"}, outside: []string{"golang.org/x/time"}},

	"blocks": {own: []string{"task", "p2p/wire", "blocks/disk", "blocks/whose"},
		outside: []string{"github.com/ipfs/", "github.com/multiformats/"}},

	"blocks/whose": {core: true},

	"blocks/seal": {core: true},

	"blocks/disk": {outside: []string{"github.com/ipfs/", "github.com/cockroachdb/pebble"}},

	"sandbox": {own: []string{"task", "sandbox/wasi", "sandbox/wasm", "sandbox/freeze", "sandbox/wall"},
		outside: []string{"github.com/tetratelabs/wazero", "golang.org/x/sys"}},

	"sandbox/wall": {outside: []string{"golang.org/x/sys"}},

	"sandbox/wasi": {own: []string{"task"}, outside: []string{"github.com/tetratelabs/wazero"}},

	"sandbox/wasm": {},

	"sandbox/freeze": {own: []string{"sandbox/wasm"},
		outside: []string{"github.com/tetratelabs/wazero", "github.com/fxamacker/cbor/v2", "github.com/klauspost/compress"}},

	"owner": {own: []string{"internal/yamlfile", "task", "trace", "owner/sensor"},
		outside: []string{"github.com/goccy/go-yaml"}},

	"owner/sensor": {outside: []string{"github.com/godbus/dbus/v5", "github.com/jezek/xgb",
		"github.com/ebitengine/purego", "github.com/shirou/gopsutil", "golang.org/x/sys"}},

	"node": {own: []string{"ending", "member", "task", "trace", "predictor", "overlay", "migrate", "scheduler",
		"scheduler/message", "scheduler/worker", "scheduler/submitter", "scheduler/place", "scheduler/share",
		"scheduler/chunk", "scheduler/ledger", "scheduler/memo",
		"p2p", "p2p/bootstrap", "p2p/cost", "p2p/wire", "blocks", "blocks/disk", "blocks/seal",
		"sandbox", "owner",
		"owner/sensor", "node/exec",
		"internal/logging", "internal/pause", "node/budget", "node/informant", "node/signatures", "node/thanks",
		"task/referee", "task/table"},
		outside: []string{"github.com/ipfs/go-datastore", "github.com/shirou/gopsutil"}},

	"node/budget": {own: []string{"task"}},

	"node/informant": {own: []string{"overlay", "task"}},

	"node/thanks": {own: []string{"task"}},

	"node/signatures": {own: []string{"task"}, outside: []string{"github.com/oasisprotocol/curve25519-voi"}},

	"node/exec": {own: []string{"task", "overlay", "migrate", "migrate/handover", "scheduler/message", "p2p", "blocks",
		"blocks/seal", "sandbox", "owner", "internal/pause", "task/table"}, outside: []string{"golang.org/x/sys"}},

	"api/door": {outside: []string{"golang.org/x/crypto/scrypt"}},

	"api/stream": {},

	"api/view": {own: []string{"node", "owner", "predictor", "scheduler/message", "task", "trace"}},

	"api": {outside: []string{"github.com/piglig/go-qr"}, own: []string{"api/door", "api/stream", "api/view", "api/web",
		"ending",
		"task", "task/table", "overlay", "trace", "owner", "scheduler", "scheduler/message", "scheduler/worker",
		"scheduler/submitter", "node", "blocks", "blocks/seal", "sandbox", "api/metrics"}},

	"api/metrics": {own: []string{"node", "task"}, outside: []string{"github.com/prometheus/client_golang"}},

	"api/client": {own: []string{"api", "blocks/seal", "lab/submission", "scheduler/message", "task"}},

	"api/web": {},

	"api/apitest": {own: []string{"api", "scheduler/message", "task"}},

	"cmd/godwit": {own: []string{"*"}, outside: []string{"github.com/spf13/"}},

	"internal/archtest": {},

	"internal/face": {own: []string{"api", "api/web", "internal/noop", "lab/testbed", "owner", "scheduler/message",
		"task"}, outside: []string{"github.com/chromedp/", "github.com/shirou/gopsutil"}},

	"internal/chaos": {own: []string{"internal/chaos/caller", "internal/chaos/hostile", "internal/chaos/walk",
		"internal/noop", "internal/pause", "overlay", "p2p", "task"}, outside: []string{"golang.org/x/sys"}},

	"internal/chaos/hostile": {own: []string{"internal/chaos/hostile/virtual", "internal/pause", "member", "node/informant",
		"node/thanks", "overlay", "p2p", "p2p/wire", "scheduler/ledger", "scheduler/message", "task"},
		outside: []string{"github.com/fxamacker/cbor/v2", "github.com/libp2p/"}},

	"internal/chaos/hostile/virtual": {own: []string{"credibility", "overlay", "scheduler/message", "sim", "sim/swarm",
		"task", "trace"}},

	"internal/chaos/caller": {own: []string{"internal/pause", "overlay", "p2p", "p2p/cost", "task"}},
	"internal/chaos/guest":  {own: []string{"internal/chaos/walk"}},

	"internal/chaos/walk": {core: true},

	"internal/guests": {},

	"internal/packaging": {},

	"internal/pause": {},

	"internal/release": {own: []string{"internal/signed", "task"}, outside: []string{"golang.org/x/mod"}},

	"internal/service": {},

	"internal/signed": {own: []string{"task"}},

	"internal/spec": {core: true},

	"internal/guests/child": {own: []string{"sandbox"}},

	"internal/testnet": {own: []string{"task", "overlay", "p2p", "blocks"},
		outside: []string{"github.com/libp2p/", "github.com/marcopolo/simnet", "github.com/quic-go/quic-go",
			"github.com/ipfs/", "github.com/multiformats/"}},

	"reproduce/zhang": {core: true, own: []string{"trace", "predictor", "migrate", "scheduler/place", "sim", "reproduce"}},

	"reproduce/mgst": {core: true, own: []string{"trace", "scheduler/place/allot", "sim", "reproduce"}},

	"reproduce/simpetek": {core: true, own: []string{"scheduler/chunk", "reproduce", "reproduce/simpetek/sweep"}},

	"reproduce/simpetek/sweep": {core: true, own: []string{"internal/heap", "scheduler/chunk"}},

	"reproduce/koala": {core: true, own: []string{"reproduce", "reproduce/koala/shares"}},

	"reproduce/koala/shares": {core: true, own: []string{"internal/heap", "scheduler/share"}},

	"reproduce/trust": {core: true, own: []string{"credibility", "reproduce"}},

	"credibility": {core: true},

	"pilot": {core: true},

	"pilot/batch": {own: []string{"internal/pause", "pilot"}},

	"reproduce/policies": {core: true, own: []string{"trace", "sim", "reproduce"}},

	"reproduce/bags": {core: true, own: []string{"trace", "sim", "reproduce", "reproduce/policies"}},

	"internal/spectable": {},

	"internal/docs": {},

	"internal/docs/try": {own: []string{"internal/docs"}},

	"internal/heap": {core: true},

	"internal/logging": {},

	"internal/noop": {core: true},

	"internal/roundtrip": {core: true},

	"internal/house": {},

	"internal/house/survey": {own: []string{"internal/house"}},

	"internal/yamlfile": {core: true, outside: []string{"github.com/goccy/go-yaml"}},

	"internal/failure": {own: []string{"task"}},

	"lab/screen": {outside: []string{"golang.org/x/sys"}},

	"lab/table": {own: []string{"task"}},

	"lab/interpreter": {own: []string{"internal/failure", "sandbox"}},

	"lab/toolchain": {own: []string{"internal/failure", "lab/interpreter"}},

	"lab/plot": {own: []string{"internal/failure"}, outside: []string{"gonum.org/v1/plot"}},

	"lab/files": {own: []string{"internal/failure", "lab/table", "sim/scenario", "trace"}},

	"lab/trials": {core: true, outside: []string{"gonum.org/v1/gonum/stat/distuv"}},

	"lab/traces": {own: []string{"internal/failure", "lab/files", "lab/plot", "lab/table", "trace"}},

	"lab/progress": {own: []string{"lab/screen", "lab/table", "scheduler/message", "task"}},

	"lab/view": {own: []string{"lab/table", "scheduler"}},

	"lab/timeline": {own: []string{"lab/plot", "lab/table", "scheduler/message", "task"},
		outside: []string{"gonum.org/v1/plot"}},

	"lab/proof": {own: []string{"blocks", "blocks/seal", "sandbox", "task", "task/referee", "task/table",
		"internal/noop"}},
	"lab/audit": {own: []string{"api", "blocks", "blocks/seal", "credibility", "lab/submission", "node", "sandbox",
		"scheduler/message", "task", "task/table"}},

	"lab/mapping": {own: []string{"api", "blocks", "blocks/seal", "internal/failure", "lab/progress", "lab/submission",
		"sandbox", "scheduler/ledger", "scheduler/message", "task", "task/table"}},

	"lab/submission": {own: []string{"ending", "node",
		"api", "blocks", "blocks/seal", "internal/failure", "lab/files", "lab/progress",
		"lab/table", "lab/trials", "sandbox", "scheduler/ledger",
		"scheduler/message", "task", "task/table"}},

	"lab/experiment": {own: []string{"internal/failure", "lab/testbed", "lab/testbed/impose", "lab/testbed/measure", "lab/testbed/plan",
		"lab/testbed/replay", "node", "scheduler/place/allot", "sim", "sim/scenario", "task", "trace"}},

	"lab/experiment/remote": {own: []string{"api", "api/door", "internal/failure", "lab/experiment", "lab/testbed/replay",
		"task"}},

	"lab/simulation": {own: []string{"internal/failure", "internal/spec", "lab/files", "lab/plot", "lab/progress",
		"lab/table", "lab/traces", "overlay", "sim", "sim/report", "sim/scenario", "sim/swarm", "task", "trace"}},

	"lab/backtest": {own: []string{"internal/failure", "lab/plot", "lab/table", "lab/traces", "predictor", "trace"}},

	"lab/published": {own: []string{"reproduce/bags", "reproduce/ends",
		"reproduce/koala", "reproduce/mgst", "reproduce/policies", "reproduce/simpetek",
		"reproduce/trust",
		"reproduce/zhang", "internal/failure", "internal/spec", "lab/plot", "lab/progress", "lab/table", "lab/traces",
		"reproduce", "sim/scenario", "trace"}},

	"lab/testbed": {own: []string{"api", "internal/failure", "lab/files", "lab/progress", "lab/table",
		"lab/testbed/clock", "lab/traces", "lab/view", "node", "owner", "p2p", "scheduler", "task", "trace"}},

	"lab/testbed/clock": {own: []string{"trace"}},

	"lab/testbed/measure": {own: []string{"lab/files", "lab/table", "lab/testbed/clock", "scheduler/ledger",
		"scheduler/message", "sim/report", "task"}},

	"lab/testbed/impose": {own: []string{"internal/failure", "lab/testbed/measure", "node", "overlay", "scheduler",
		"scheduler/place", "sim", "task"}},

	"lab/testbed/plan": {own: []string{"internal/failure", "lab/files", "lab/testbed/clock", "lab/testbed/impose",
		"lab/traces", "migrate", "scheduler/place", "scheduler/share", "sim", "sim/scenario", "sim/swarm", "task", "trace"}},

	"lab/testbed/replay": {own: []string{"api", "internal/failure", "internal/noop", "lab/files", "lab/progress",
		"lab/submission", "lab/table",
		"lab/testbed", "lab/testbed/clock", "lab/testbed/impose", "lab/testbed/measure", "lab/testbed/plan", "lab/traces",
		"node", "overlay", "owner", "scheduler/ledger", "scheduler/message", "scheduler/place", "sim", "sim/report",
		"sim/scenario", "sim/swarm", "task", "trace"}},

	"lab/testbed/sites": {own: []string{"api", "internal/failure", "internal/noop", "lab/files", "lab/plot", "lab/progress",
		"lab/submission", "lab/table", "lab/testbed", "lab/testbed/clock", "lab/testbed/measure", "lab/testbed/plan", "migrate", "node", "owner",
		"scheduler/message", "scheduler/place", "scheduler/share", "sim", "sim/scenario", "sim/swarm", "task", "trace"}},

	"lab/testbed/local": {own: []string{"api", "internal/failure", "internal/noop", "lab/progress", "lab/submission",
		"lab/table",
		"lab/testbed", "lab/testbed/clock", "lab/testbed/measure"}},

	"lab/testbed/batch": {own: []string{"api", "internal/failure", "internal/noop", "lab/progress", "lab/submission",
		"lab/table",
		"lab/testbed", "node", "scheduler/chunk", "scheduler/message", "scheduler/place", "task"}},
}

// impure lists what no core package may import: it has no clock, goroutine,
// input or output of its own.
var impure = []string{"os", "net", "context", "sync", "log", "log/slog", "io/ioutil", "os/exec", "os/signal",
	"runtime", "unsafe", "crypto/rand"}

// impureCalls are calls that read a clock, start a timer or draw from shared
// randomness.
var impureCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"math/rand/v2": {"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint32", "Uint64", "Uint64N", "N",
		"Float32", "Float64", "NormFloat64", "ExpFloat64", "Perm", "Shuffle"},
	"math/rand": {"*"},
}

type file struct {
	path string // from the module's root
	room string // directory
	ast  *ast.File
	fset *token.FileSet
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f *file) at(n ast.Node) string {
	return f.path + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// load returns every Go file of the module, examples aside: they are guests.
func load(t *testing.T) []*file {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files found: is %s the module's root?", len(files), rootPath)
	}
	return files
}

// parsed parses the files once for all tests.
var parsed = sync.OnceValues(func() ([]*file, error) {
	var files []*file
	err := filepath.WalkDir(rootPath, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(rootPath, p)
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || rel == "examples" || rel == "out") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files = append(files, &file{path: rel, room: path.Dir(rel), ast: parsed, fset: fset})
		return nil
	})
	return files, err
})

func TestImports(t *testing.T) {
	for _, f := range load(t) {
		r, ok := rules[f.room]
		if !ok {
			t.Errorf("%s: the room %q has no rule; add one here, and run scripts/generate", f.path, f.room)
			continue
		}
		if f.test() {
			continue
		}
		for _, imp := range f.ast.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			if problem := r.forbids(p); problem != "" {
				t.Errorf("%s: %s imports %q: %s", f.at(imp), f.room, p, problem)
			}
		}
	}
}

// TestNothingDrawsUnlessTagged: what draws pictures is not linked into the binary that
// volunteers run, but with the tag plot.
func TestNothingDrawsUnlessTagged(t *testing.T) {
	tagged := 0
	for _, f := range load(t) {
		draws := slices.ContainsFunc(f.ast.Imports, func(imp *ast.ImportSpec) bool {
			return strings.HasPrefix(imp.Path.Value, `"gonum.org/v1/plot`)
		})
		if !draws {
			continue
		}
		tagged++
		if len(f.ast.Comments) == 0 || f.ast.Comments[0].List[0].Text != "//go:build plot" {
			t.Errorf("%s: draws, and does not begin with //go:build plot", f.path)
		}
	}
	if tagged == 0 {
		t.Error("no file draws: has the library another name?")
	}
}

func (r rule) forbids(p string) string {
	own, isOwn := strings.CutPrefix(p, module+"/")
	switch {
	case isOwn && !slices.Contains(r.own, own) && !slices.Contains(r.own, "*"):
		return "not among the rooms it may use"
	case isOwn:
		return ""
	case !strings.Contains(p, "."):
		if r.core && slices.Contains(impure, p) {
			return "the core does no input or output and starts nothing"
		}
		return ""
	case !slices.ContainsFunc(r.outside, func(o string) bool { return strings.HasPrefix(p, o) }):
		return "not among the libraries it may use"
	}
	return ""
}

func TestCoreIsPure(t *testing.T) {
	for _, f := range load(t) {
		if !rules[f.room].core || f.test() {
			continue
		}
		names := importNames(f.ast)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: the core starts no goroutine", f.at(n))
			case *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
				t.Errorf("%s: the core uses no channel", f.at(n))
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && forbiddenCall(names[id.Name], n.Sel.Name) {
					t.Errorf("%s: the core does not use %s.%s", f.at(n), id.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

func forbiddenCall(pkg, name string) bool {
	return slices.Contains(impureCalls[pkg], name) || slices.Contains(impureCalls[pkg], "*")
}

// importNames maps the names a file uses to what they import.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, imp := range f.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = p
	}
	return names
}

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string]int{}
	for _, f := range load(t) {
		if f.test() {
			continue
		}
		comments[f.room] += 0
		if f.ast.Doc != nil {
			comments[f.room]++
		}
	}
	for room, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments, want 1", room, n)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range load(t) {
		if f.test() || f.ast.Name.Name == "main" {
			continue
		}
		for _, n := range house.Undocumented(f.ast) {
			t.Errorf("%s: %s has no doc comment", f.at(n), n.Name)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range load(t) {
		if n := f.fset.Position(f.ast.End()).Line; n > maxLines && !f.test() {
			t.Errorf("%s has %d lines, at most %d", f.path, n, maxLines)
		}
	}
}

// TestNoSleepInTests: outside a synctest bubble a sleep is a flake in waiting.
func TestNoSleepInTests(t *testing.T) {
	for _, f := range load(t) {
		if !f.test() {
			continue
		}
		src, err := os.ReadFile(filepath.Join(rootPath, f.path))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "time."+"Sleep(") && !strings.Contains(string(src), "testing/synctest") {
			t.Errorf("%s sleeps outside a synctest bubble", f.path)
		}
	}
}

// TestErrorsNameTheirOwnRoom: an error that begins with the name of a room, such as
// "blocks: ", comes from it: whoever reads it looks there.
func TestErrorsNameTheirOwnRoom(t *testing.T) {
	names := map[string]bool{}
	for room := range rules {
		names[path.Base(room)] = true
	}
	for _, f := range load(t) {
		if f.test() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if named := errorRoom(n); names[named] && !slices.Contains(strings.Split(f.room, "/"), named) {
				t.Errorf("%s: an error of %s names the room %s", f.at(n), f.room, named)
			}
			return true
		})
	}
}

// errorRoom is the word before the colon with which a new error begins; "" for none.
func errorRoom(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	made, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || made.Sel.Name != "New" && made.Sel.Name != "Errorf" {
		return ""
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, _ := strconv.Unquote(text.Value)
	name, _, found := strings.Cut(s, ": ")
	if !found {
		return ""
	}
	return name
}

// TestRulesAreUsed: a rule for a room that is gone would hide a misspelt one.
func TestRulesAreUsed(t *testing.T) {
	rooms := map[string]bool{}
	for _, f := range load(t) {
		rooms[f.room] = true
	}
	for room := range rules {
		if !rooms[room] {
			t.Errorf("the rule for %q names a room that is not there", room)
		}
	}
}
