package main

import (
	"math"
	"math/rand/v2"
)

// A ray starts at a point and goes in a direction of length 1.
type ray struct{ from, dir vec }

func (r ray) at(t float64) vec { return r.from.add(r.dir.scale(t)) }

// A hit is where a ray meets a surface.
type hit struct {
	t      float64 // distance along the ray
	normal vec     // out of the object
	mat    *material
}

// near is how far from its start a ray begins to see: closer hits are the
// surface it comes from.
const near = 1e-4

func (s *scene) hit(r ray) (hit, bool) {
	best := math.Inf(1)
	var ball *sphere
	for i := range s.Spheres {
		if t := s.Spheres[i].meet(&r); t > near && t < best {
			best, ball = t, &s.Spheres[i]
		}
	}
	var flat *plane
	for i := range s.Planes {
		if t := s.Planes[i].meet(&r); t > near && t < best {
			best, flat = t, &s.Planes[i]
		}
	}
	switch {
	case flat != nil:
		return hit{best, flat.Normal, flat.mat}, true
	case ball != nil:
		return hit{best, r.at(best).sub(ball.Center).scale(1 / ball.Radius), ball.mat}, true
	}
	return hit{}, false
}

// meet returns the first distance beyond near at which r meets the sphere; any
// other number means that it does not. Most of the time goes here, so it works
// on plain numbers, which compilers keep in registers.
func (o *sphere) meet(r *ray) float64 {
	x, y, z := r.from.X-o.Center.X, r.from.Y-o.Center.Y, r.from.Z-o.Center.Z
	b := x*r.dir.X + y*r.dir.Y + z*r.dir.Z
	d := b*b - (x*x + y*y + z*z) + o.Radius*o.Radius
	if d < 0 {
		return 0
	}
	q := math.Sqrt(d)
	if t := -b - q; t > near {
		return t
	}
	return -b + q
}

// meet returns the distance at which r meets the plane, which may be negative
// or infinite.
func (o *plane) meet(r *ray) float64 {
	return (o.Offset - r.from.dot(o.Normal)) / r.dir.dot(o.Normal)
}

// light follows one path back from the eye and returns the light that comes
// along it.
func (s *scene) light(r ray, rng *rand.Rand) vec {
	got, left := vec{}, vec{1, 1, 1}
	sharp := true // the last surface was a mirror or glass, or there was none
	for bounce := 0; bounce < s.Bounces; bounce++ {
		h, ok := s.hit(r)
		if !ok {
			return got.add(left.mul(s.Sky.light(r.dir, sharp)))
		}
		p := r.at(h.t)
		if h.mat.Kind == "light" {
			return got.add(left.mul(h.mat.Color))
		}
		left = left.mul(h.mat.colorAt(p))
		if sharp = h.mat.Kind != "matte"; !sharp {
			got = got.add(left.mul(s.sunlight(p, facing(h.normal, r.dir), rng)))
		}
		r = ray{p, h.scatter(r.dir, rng)}
		if bounce > 3 { // end dim paths, and let the rest stand for them
			keep := min(left.brightest(), 0.95)
			if rng.Float64() >= keep {
				return got
			}
			left = left.scale(1 / keep)
		}
	}
	return got
}

// light is what the sky sends from a direction. The sun itself shows only to
// the eye and in mirrors; matte surfaces look for it by themselves.
func (k *sky) light(dir vec, sun bool) vec {
	c := k.Horizon.mix(k.Zenith, math.Sqrt(max(dir.Y, 0)))
	if sun && dir.dot(k.Sun) > k.cosSize() {
		c = c.add(k.SunColor)
	}
	return c
}

func (k *sky) cosSize() float64 { return math.Cos(k.SunSize * math.Pi / 180) }

// sunlight is what reaches a matte surface from one random point of the sun.
func (s *scene) sunlight(p, normal vec, rng *rand.Rand) vec {
	cos := 1 - rng.Float64()*(1-s.Sky.cosSize())
	dir := around(s.Sky.Sun, cos, rng)
	facing := dir.dot(normal)
	if facing <= 0 {
		return vec{}
	}
	if _, blocked := s.hit(ray{p, dir}); blocked {
		return vec{}
	}
	// The part of the half-sphere that the sun fills, over pi.
	return s.Sky.SunColor.scale(facing * 2 * (1 - s.Sky.cosSize()))
}

// around returns a direction at an angle of cosine cos to the axis, turned by
// a random amount.
func around(axis vec, cos float64, rng *rand.Rand) vec {
	phi := 2 * math.Pi * rng.Float64()
	sin := math.Sqrt(max(0, 1-cos*cos))
	u, v := axis.basis()
	return u.scale(sin * math.Cos(phi)).add(v.scale(sin * math.Sin(phi))).add(axis.scale(cos))
}

// facing turns a normal to the side that a ray comes from.
func facing(normal, dir vec) vec {
	if dir.dot(normal) > 0 {
		return normal.scale(-1)
	}
	return normal
}

// scatter chooses where a path goes on from a surface.
func (h *hit) scatter(dir vec, rng *rand.Rand) vec {
	n := facing(h.normal, dir)
	switch h.mat.Kind {
	case "metal":
		d := dir.reflect(n)
		if h.mat.Rough > 0 {
			d = d.add(around(n, 2*rng.Float64()-1, rng).scale(h.mat.Rough)).unit()
		}
		return d
	case "glass":
		return h.refract(dir, n, rng)
	}
	return around(n, math.Sqrt(rng.Float64()), rng) // cosine-weighted
}

// refract bends a ray at glass, or mirrors it by chance as often as glass
// does (Schlick's approximation).
func (h *hit) refract(dir, n vec, rng *rand.Rand) vec {
	ratio := 1 / h.mat.Index
	if dir.dot(h.normal) > 0 { // leaving
		ratio = h.mat.Index
	}
	cos := min(-dir.dot(n), 1)
	k := 1 - ratio*ratio*(1-cos*cos)
	r0 := (1 - ratio) / (1 + ratio)
	r0 *= r0
	c := 1 - cos
	if k < 0 || rng.Float64() < r0+(1-r0)*c*c*c*c*c {
		return dir.reflect(n)
	}
	return dir.scale(ratio).add(n.scale(ratio*cos - math.Sqrt(k))).unit()
}
