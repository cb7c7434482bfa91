package trace

import (
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	parts := []*Trace{read(t, "a.1", "0 10 5\n"), read(t, "b.1", "0 10 -1\n"), read(t, "a.2", "20 30 5\n30 40 0\n"),
		read(t, "b.2", "10 15 -1\n")}
	tr, err := Join("set", parts)
	if err != nil {
		t.Fatal(err)
	}
	const want = "a: available 0-10 unobserved 10-20 available 20-30 cpu-busy 30-40; b: unavailable 0-15"
	if got := spells(tr); got != want || tr.End.Unix() != 40 {
		t.Errorf("got %s to %v, want %s", got, tr.End, want)
	}
	if _, err := Join("set", []*Trace{read(t, "a.1", "0 10 5\n"), read(t, "a.2", "5 30 5\n")}); err == nil ||
		!strings.HasPrefix(err.Error(), "host a: ") {
		t.Errorf("overlapping parts: %v", err)
	}
}

func TestReadResources(t *testing.T) {
	got, err := ReadResources("Resourceinfo.dat", strings.NewReader("MWAN-2K 179 6851.77\nLPW8 331 13778.19\n"))
	if err != nil || len(got) != 2 || got["LPW8"] != (Resource{0.331, 13778.19}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ReadResources("R", strings.NewReader("a 1 2\nb x 2\n")); err == nil ||
		err.Error() != `R:2: "x" is not a clock rate in MHz` {
		t.Error(err)
	}
}
