package main

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// grid is how many tiles a picture has along each side: the square root of
// their number.
func grid(tiles int) (int, error) {
	n := int(math.Sqrt(float64(tiles)))
	if n < 1 || n*n != tiles {
		return 0, fmt.Errorf("%d tiles do not make a square grid; use 1, 4, 9, ... 64", tiles)
	}
	return n, nil
}

// tileRect is the part of the picture that tile k of n by n covers.
func (s *scene) tileRect(k, n int) image.Rectangle {
	x, y := k%n, k/n
	return image.Rect(x*s.Width/n, y*s.Height/n, (x+1)*s.Width/n, (y+1)*s.Height/n)
}

// render computes a part of the picture. The image keeps the part's place in
// the picture in its bounds. Every pixel has random numbers of its own, so it
// does not matter in which part it is computed.
func (s *scene) render(part image.Rectangle) *image.RGBA {
	img := image.NewRGBA(part)
	lens := s.lens()
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			rng := rand.New(rand.NewPCG(uint64(x), uint64(y)))
			sum := vec{}
			for range s.Samples {
				sum = sum.add(clamp(s.light(lens.ray(x, y, rng), rng)))
			}
			img.SetRGBA(x, y, pixel(sum.scale(1/float64(s.Samples))))
		}
	}
	return img
}

// firefly is the most that one path may add: rare very bright ones would show
// as dots.
const firefly = 3

func clamp(c vec) vec { return vec{min(c.X, firefly), min(c.Y, firefly), min(c.Z, firefly)} }

// A lens makes the rays of a camera.
type lens struct {
	from                vec
	corner, right, down vec // the sharp plane: its upper left pixel, and steps to the next
	u, v                vec // the lens, of the aperture's radius
}

func (s *scene) lens() lens {
	c := &s.Camera
	w := c.From.sub(c.To).unit()
	u := vec{0, 1, 0}.cross(w).unit()
	v := w.cross(u)
	high := 2 * math.Tan(c.Angle*math.Pi/360) * c.Focus
	wide := high * float64(s.Width) / float64(s.Height)
	corner := c.From.sub(w.scale(c.Focus)).sub(u.scale(wide / 2)).add(v.scale(high / 2))
	return lens{
		from: c.From, corner: corner,
		right: u.scale(wide / float64(s.Width)), down: v.scale(-high / float64(s.Height)),
		u: u.scale(c.Aperture / 2), v: v.scale(c.Aperture / 2),
	}
}

// ray returns a random ray through a pixel.
func (l *lens) ray(x, y int, rng *rand.Rand) ray {
	to := l.corner.add(l.right.scale(float64(x) + rng.Float64())).add(l.down.scale(float64(y) + rng.Float64()))
	radius, phi := math.Sqrt(rng.Float64()), 2*math.Pi*rng.Float64()
	from := l.from.add(l.u.scale(radius * math.Cos(phi))).add(l.v.scale(radius * math.Sin(phi)))
	return ray{from, to.sub(from).unit()}
}

// pixel turns light into what a screen shows: a curve that keeps bright parts
// from burning out, then the sRGB one.
func pixel(c vec) color.RGBA {
	f := func(v float64) uint8 {
		v = v * (2.51*v + 0.03) / (v*(2.43*v+0.59) + 0.14)
		v = min(max(v, 0), 1)
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		return uint8(v*255 + 0.5)
	}
	return color.RGBA{f(c.X), f(c.Y), f(c.Z), 255}
}
