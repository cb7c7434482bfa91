//go:build plot

package report

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"godwit/sim"
)

func TestDraw(t *testing.T) {
	var swept, plain []*sim.Report
	for seed := range uint64(3) {
		for n := range uint64(4) {
			swept = append(swept, made(fmt.Sprintf("fcfspp:n=%d", n+1), "", seed, 10+n+seed, 3))
		}
		swept = append(swept, made("fcfs", "", seed, 10+seed, 9))
		plain = append(plain, made("fcfs", "none", seed, 10+seed, 9), made("random", "pspp", seed, 20, 2))
	}
	plain[1].Prediction = &sim.Prediction{Exits: 3}
	empty := []*sim.Report{{Setup: sim.Setup{Policy: "fcfs"}}}
	for name, reports := range map[string][]*sim.Report{"swept": swept, "plain": plain, "empty": empty} {
		var picture, again, drawing bytes.Buffer
		for _, b := range []*bytes.Buffer{&picture, &again} {
			if err := Draw(b, PNG, reports, Options{}); err != nil {
				t.Fatal(name, err)
			}
		}
		if !bytes.Equal(picture.Bytes(), again.Bytes()) {
			t.Errorf("%s: two pictures differ", name)
		}
		if m, err := png.DecodeConfig(&picture); err != nil || m.Width < 1000 {
			t.Errorf("%s: %v %v", name, m, err)
		}
		if err := Draw(&drawing, SVG, reports, Options{}); err != nil {
			t.Fatal(name, err)
		}
		if has := strings.Contains(drawing.String(), "detection and correctness"); has != (name == "plain") {
			t.Errorf("%s: a chart of predictions: %v", name, has)
		}
	}
	if err := Draw(&bytes.Buffer{}, "gif", plain, Options{}); err == nil {
		t.Error("a gif was drawn")
	}
}
