// Assemble puts the tiles of a picture together. The tiles are given in any
// order; their names end in their number, row by row.
//
//	go run ./examples/render/assemble -out picture.png out/*/tile-*.png
//
// The result is byte for byte what the renderer writes with -whole.
package main

import (
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	out := flag.String("out", "picture.png", "file to write")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "assemble:", err)
		os.Exit(1)
	}
}

func run(out string, names []string) error {
	tiles := make([]image.Image, len(names))
	n := 0
	for n*n < len(names) {
		n++
	}
	if n == 0 || n*n != len(names) {
		return fmt.Errorf("%d tiles do not make a square grid", len(names))
	}
	for _, name := range names {
		k, err := number(name)
		if err != nil {
			return err
		}
		if k >= len(tiles) || tiles[k] != nil {
			return fmt.Errorf("%s: tile %d is there twice or beyond the last", name, k)
		}
		if tiles[k], err = load(name); err != nil {
			return err
		}
	}
	return save(out, join(tiles, n))
}

// number is that in tile-NN.png.
func number(name string) (int, error) {
	base := strings.TrimSuffix(filepath.Base(name), ".png")
	k, err := strconv.Atoi(base[strings.LastIndexByte(base, '-')+1:])
	if err != nil || k < 0 {
		return 0, fmt.Errorf("%s: the name does not end in a tile's number", name)
	}
	return k, nil
}

// join lays out n by n tiles. Tiles of a row are equally high, those of a
// column equally wide.
func join(tiles []image.Image, n int) image.Image {
	width, height := 0, 0
	for i := range n {
		width += tiles[i].Bounds().Dx()
		height += tiles[i*n].Bounds().Dy()
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	y := 0
	for row := range n {
		x := 0
		for _, t := range tiles[row*n : row*n+n] {
			b := t.Bounds()
			draw.Draw(picture, image.Rect(x, y, x+b.Dx(), y+b.Dy()), t, b.Min, draw.Src)
			x += b.Dx()
		}
		y += tiles[row*n].Bounds().Dy()
	}
	return picture
}

func load(name string) (image.Image, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return img, nil
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
