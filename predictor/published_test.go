package predictor

import "testing"

func TestThreshold(t *testing.T) {
	for _, tt := range []struct {
		spec      string
		threshold float64
		own       bool
		chosen    string // beside the policy's tde:n=3
	}{
		{"", 1, true, ""},
		{"tde", 1, true, "tde:n=3"},
		{"tde:n=6", 1, false, "tde:n=6"},
		{"tde5", 1, false, "tde5"},
		{"blend", .5, false, "blend"},
		{"weekly:slots=8", .5, false, "weekly:slots=8"},
	} {
		own, why := Own(tt.spec)
		if got := Threshold(tt.spec); got != tt.threshold || own != tt.own || own == (why != "") {
			t.Errorf("%q: threshold %v, own parameters %v, %q", tt.spec, got, own, why)
		}
		if got := Choose(tt.spec, "tde:n=3"); got != tt.chosen {
			t.Errorf("%q beside tde:n=3: %q", tt.spec, got)
		}
	}
	if got := Choose("tde", "blend"); got != "tde" {
		t.Errorf("tde beside a policy published with blend: %q", got)
	}
}
