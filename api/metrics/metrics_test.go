package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"godwit/node"
	"godwit/p2p"
	"godwit/task"
)

// A fake is a Source whose node has something of everything.
type fake struct {
	asked int
	err   error
}

func (f *fake) Measures(context.Context) (node.Measures, error) {
	f.asked++
	o := node.OverlayMeasures{Overlay: "commons", Members: 3, Decided: map[string]uint64{"placed": 7}}
	hostile := o
	hostile.Overlay = "a\"}\n\xff\\"
	return node.Measures{Version: "test", Ended: map[task.Outcome]uint64{task.Completed: 5},
		Disk: map[string]int64{"content": 1 << 40}, Overlays: []node.OverlayMeasures{o, hostile},
		Net: p2p.Stats{Protocols: map[string]p2p.Traffic{"other": {In: 1, Out: 2}},
			DroppedAdverts: map[string]uint64{"size": 1}}}, f.err
}

func scrape(t *testing.T, from Source) (int, []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(from).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Code, w.Body.Bytes()
}

// Prometheus's own parser reads what is shown: each family once, as it is listed, and every value as it was measured.
func TestParsed(t *testing.T) {
	f := &fake{}
	h := Handler(f)
	if f.asked != 0 {
		t.Error("the node is asked though nobody wants to know")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if f.asked != 1 {
		t.Errorf("the node was asked %d times for one answer", f.asked)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Families() {
		m := got[f.Name]
		if m == nil {
			t.Errorf("%s is not shown", f.Name)
			continue
		}
		want := map[bool]dto.MetricType{true: dto.MetricType_COUNTER, false: dto.MetricType_GAUGE}[f.Counter]
		if m.GetType() != want {
			t.Errorf("%s is a %v", f.Name, m.GetType())
		}
		for _, series := range m.Metric {
			var labels []string
			for _, l := range series.Label {
				labels = append(labels, l.GetName())
			}
			if !slices.Equal(labels, f.Labels) {
				t.Errorf("%s has the labels %q, listed are %q", f.Name, labels, f.Labels)
			}
		}
	}
	listed := func(name string) bool {
		return slices.ContainsFunc(Families(), func(f Family) bool { return f.Name == name })
	}
	for name := range got {
		if strings.HasPrefix(name, "godwit_") && !listed(name) {
			t.Errorf("%s is shown and not listed", name)
		}
	}
	if got["process_cpu_seconds_total"] == nil && got["go_goroutines"] == nil {
		t.Error("nothing is shown of the process")
	}
	placed := got["godwit_scheduler_decisions_total"].Metric[1]
	if v := placed.GetCounter().GetValue(); v != 7 || placed.Label[1].GetValue() != "placed" {
		t.Errorf("got %v", placed)
	}
}

// Names say room, what and unit, as Prometheus wants them; nothing is by peer or by job.
func TestNames(t *testing.T) {
	name := regexp.MustCompile(`^godwit_(node|sandbox|overlay|scheduler|gossip|disk|p2p)(_[a-z]+)+$`)
	seen := map[string]bool{}
	for _, f := range Families() {
		if !name.MatchString(f.Name) || seen[f.Name] || f.Counter != strings.HasSuffix(f.Name, "_total") {
			t.Errorf("%s, a counter: %v", f.Name, f.Counter)
		}
		seen[f.Name] = true
		if !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: %q is no sentence", f.Name, f.Help)
		}
		for _, l := range f.Labels {
			if !slices.Contains([]string{byOverlay, byReason, byProtocol, byVersion}, l) {
				t.Errorf("%s has the label %s", f.Name, l)
			}
		}
	}
}

// A node that does not answer is no node with nothing to do.
func TestSilentNode(t *testing.T) {
	if code, body := scrape(t, &fake{err: errors.New("no answer")}); code != http.StatusInternalServerError {
		t.Errorf("answered %d: %s", code, body)
	}
}

// promtool finds nothing wrong.
func TestPromtool(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not installed: it is in Debian's package prometheus")
	}
	_, body := scrape(t, &fake{})
	var own []string // the runtime's and the process's are not ours
	for line := range strings.Lines(string(body)) {
		if strings.Contains(line, "godwit_") {
			own = append(own, line)
		}
	}
	cmd := exec.Command("promtool", "check", "metrics")
	cmd.Stdin = strings.NewReader(strings.Join(own, ""))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

const docs = "../../docs/"

// docs/metrics.md lists what is shown, in the same order and with the same words.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(docs + "metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `godwit_") {
			listed = append(listed, strings.TrimSpace(line))
		}
	}
	for _, f := range Families() {
		kind := map[bool]string{true: "counter", false: "gauge"}[f.Counter]
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", f.Name, kind, strings.Join(f.Labels, ", "),
			strings.TrimSuffix(f.Help, ".")))
	}
	if !slices.Equal(listed, want) {
		t.Errorf("docs/metrics.md is to list:\n%s", strings.Join(want, "\n"))
	}
}

// Every query of the Grafana dashboard names metrics that there are, and labels that they have.
func TestGrafana(t *testing.T) {
	text, err := os.ReadFile(docs + "grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	metric, by := regexp.MustCompile(`\b(godwit|process|go)_[a-z0-9_]+`), regexp.MustCompile(`by \(([a-z, ]+)\)`)
	used := map[string]bool{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			labels := []string{"instance", "job"} // which Prometheus adds
			names := metric.FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s: %q has no metric", p.Title, target.Expr)
			}
			for _, name := range names {
				used[name] = true
				i := slices.IndexFunc(Families(), func(f Family) bool { return f.Name == name })
				if i < 0 && strings.HasPrefix(name, "godwit_") {
					t.Errorf("%s: there is no %s", p.Title, name)
				} else if i >= 0 {
					labels = append(labels, Families()[i].Labels...)
				}
			}
			for _, group := range by.FindAllStringSubmatch(target.Expr, -1) {
				for label := range strings.SplitSeq(group[1], ",") {
					if !slices.Contains(labels, strings.TrimSpace(label)) {
						t.Errorf("%s: nothing in %q has the label %s", p.Title, target.Expr, label)
					}
				}
			}
		}
	}
	if len(used) < 10 {
		t.Errorf("the dashboard shows %d metrics", len(used))
	}
}
