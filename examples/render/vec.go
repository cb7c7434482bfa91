package main

import "math"

// A vec is a point, a direction or a colour.
type vec struct{ X, Y, Z float64 }

func (a vec) add(b vec) vec            { return vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }
func (a vec) sub(b vec) vec            { return vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }
func (a vec) mul(b vec) vec            { return vec{a.X * b.X, a.Y * b.Y, a.Z * b.Z} }
func (a vec) scale(k float64) vec      { return vec{a.X * k, a.Y * k, a.Z * k} }
func (a vec) dot(b vec) float64        { return a.X*b.X + a.Y*b.Y + a.Z*b.Z }
func (a vec) length() float64          { return math.Sqrt(a.dot(a)) }
func (a vec) unit() vec                { return a.scale(1 / a.length()) }
func (a vec) mix(b vec, t float64) vec { return a.scale(1 - t).add(b.scale(t)) }
func (a vec) brightest() float64       { return max(a.X, a.Y, a.Z) }

func (a vec) cross(b vec) vec {
	return vec{a.Y*b.Z - a.Z*b.Y, a.Z*b.X - a.X*b.Z, a.X*b.Y - a.Y*b.X}
}

// basis returns two directions at right angles to the unit vector n and to
// each other.
func (n vec) basis() (vec, vec) {
	up := vec{0, 1, 0}
	if math.Abs(n.Y) > 0.9 {
		up = vec{1, 0, 0}
	}
	u := up.cross(n).unit()
	return u, n.cross(u)
}

// reflect mirrors a direction at a surface with normal n.
func (d vec) reflect(n vec) vec { return d.sub(n.scale(2 * d.dot(n))) }
