// Render is a small path tracer: a scene in, a tile of a picture out. It is
// plain Go without dependencies. Built for wasip1 it gives the same bytes on
// every machine; a native build may differ in the last bit of a colour, since
// compilers may fuse a multiplication and an addition there.
//
//	render -scene scene.json -tile 5 -tiles 64    writes tile-05.png
//	render -scene scene.json -whole               writes picture.png
package main

import (
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		name    = flag.String("scene", "scene.json", "file that describes the scene")
		tile    = flag.Int("tile", 0, "which tile to render, from 0; -1 for the whole picture")
		tiles   = flag.Int("tiles", 64, "how many tiles the picture has")
		whole   = flag.Bool("whole", false, "render the whole picture")
		samples = flag.Int("samples", 0, "paths per pixel, instead of the scene's")
	)
	flag.Parse()
	s, err := readScene(*name)
	if err != nil {
		return err
	}
	if *samples > 0 {
		s.Samples = *samples
	}
	if *whole || *tile == -1 {
		return save("picture.png", s.render(image.Rect(0, 0, s.Width, s.Height)))
	}
	n, err := grid(*tiles)
	if err != nil {
		return err
	}
	if *tile < 0 || *tile >= *tiles {
		return fmt.Errorf("there is no tile %d of %d", *tile, *tiles)
	}
	return save(fmt.Sprintf("tile-%02d.png", *tile), s.render(s.tileRect(*tile, n)))
}

func save(name string, img image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return f.Close()
}
