package main

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"testing"
)

// small is the example's scene, cheap enough for a test.
func small(t *testing.T) *scene {
	s, err := readScene("scene.json")
	if err != nil {
		t.Fatal(err)
	}
	s.Width, s.Height, s.Samples = 33, 25, 2 // no multiple of the grid
	return s
}

func TestTilesMakeTheWhole(t *testing.T) {
	s := small(t)
	whole := s.render(image.Rect(0, 0, s.Width, s.Height))
	joined := image.NewRGBA(whole.Bounds())
	for k := range 16 {
		part := s.render(s.tileRect(k, 4))
		draw.Draw(joined, part.Bounds(), part, part.Bounds().Min, draw.Src)
	}
	if !bytes.Equal(joined.Pix, whole.Pix) {
		t.Error("the tiles do not make the picture")
	}
	var a, b bytes.Buffer
	if png.Encode(&a, joined) != nil || png.Encode(&b, whole) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the pictures are encoded differently")
	}
	if bytes.Equal(whole.Pix[:4], whole.Pix[len(whole.Pix)-4:]) {
		t.Error("the sky has the colour of the ground")
	}
}

func TestBadScenes(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"no size":     func(s *scene) { s.Width = 0 },
		"huge":        func(s *scene) { s.Width, s.Height = 1<<30, 1<<30 },
		"no samples":  func(s *scene) { s.Samples = 0 },
		"no material": func(s *scene) { s.Spheres[0].Material = "cheese" },
	} {
		s := small(t)
		change(s)
		if s.prepare() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := grid(63); err == nil {
		t.Error("63 tiles make no grid, but there is no error")
	}
}
