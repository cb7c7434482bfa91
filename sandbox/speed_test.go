package sandbox

import "testing"

// A core is somewhere near the reference core; what matters is that the
// benchmark runs through and measures something.
func TestSpeed(t *testing.T) {
	p := newTestPool(t)
	speed, err := p.Speed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.2f of the reference core", speed)
	if speed < 0.001 || speed > 1000 {
		t.Errorf("this core has a speed of %v", speed)
	}
}
