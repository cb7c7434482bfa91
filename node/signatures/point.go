package signatures

import (
	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// A point of the curve -x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates: x = X/Z, y = Y/Z, xy = T/Z.
// The formulas are those of Hisil, Wong, Carter and Dawson, "Twisted Edwards Curves Revisited" (2008),
// sections 3.1 and 3.3, which hold for all points of the curve.
type point struct{ x, y, z, t field.Element }

// A multiple is a point that is kept to be added: y+x, y-x and 2dxy.
type multiple struct{ sum, diff, t2d field.Element }

var one = new(field.Element).One()

// twoD is 2d, where d is -121665/121666 (RFC 8032, section 5.1).
var twoD = func() *field.Element {
	d := new(field.Element).Invert(new(field.Element).Mult32(one, 121666))
	d.Negate(d.Mult32(d, 121665))
	return d.Add(d, d)
}()

// neutral returns the neutral element.
func neutral() point {
	var p point
	p.y.One()
	p.z.One()
	return p
}

// add adds a multiple, or takes it away.
func (p *point) add(q *multiple, negative bool) {
	sum, diff := &q.sum, &q.diff
	if negative {
		sum, diff = diff, sum
	}
	var a, b, c, d, e, f, g, h field.Element
	a.Multiply(a.Subtract(&p.y, &p.x), diff)
	b.Multiply(b.Add(&p.y, &p.x), sum)
	c.Multiply(&p.t, &q.t2d)
	d.Add(&p.z, &p.z)
	e.Subtract(&b, &a)
	h.Add(&b, &a)
	f.Subtract(&d, &c)
	g.Add(&d, &c)
	if negative {
		f, g = g, f
	}
	p.x.Multiply(&e, &f)
	p.y.Multiply(&g, &h)
	p.z.Multiply(&f, &g)
	p.t.Multiply(&e, &h)
}

// double doubles it.
func (p *point) double() {
	var a, b, c, e, f, g, h field.Element
	a.Square(&p.x)
	b.Square(&p.y)
	c.Square(&p.z)
	c.Add(&c, &c)
	e.Square(e.Add(&p.x, &p.y))
	h.Add(&a, &b)
	e.Subtract(&h, &e)
	g.Subtract(&a, &b)
	f.Add(&c, &g)
	p.x.Multiply(&e, &f)
	p.y.Multiply(&g, &h)
	p.z.Multiply(&f, &g)
	p.t.Multiply(&e, &h)
}

// encoded returns the point as it is in keys and signatures (RFC 8032, section 5.1.2).
func (p *point) encoded() (b [32]byte) {
	var inverse, x, y field.Element
	inverse.Invert(&p.z)
	x.Multiply(&p.x, &inverse)
	y.Multiply(&p.y, &inverse)
	copy(b[:], y.Bytes())
	b[31] |= byte(x.IsNegative() << 7)
	return b
}

// multiplesOf makes points that are to be added of some of edwards25519's, with one inversion for all.
func multiplesOf(points []*edwards25519.Point) []multiple {
	out := make([]multiple, len(points))
	xs, ys, zs := make([]*field.Element, len(points)), make([]*field.Element, len(points)), make([]*field.Element,
		len(points))
	before := make([]field.Element, len(points)) // the product of all before each
	all := new(field.Element).One()
	for i, p := range points {
		xs[i], ys[i], zs[i], _ = p.ExtendedCoordinates()
		before[i].Set(all)
		all.Multiply(all, zs[i])
	}
	all.Invert(all)
	for i := len(points) - 1; i >= 0; i-- {
		var inverse, x, y field.Element
		inverse.Multiply(all, &before[i])
		all.Multiply(all, zs[i])
		x.Multiply(xs[i], &inverse)
		y.Multiply(ys[i], &inverse)
		m := &out[i]
		m.sum.Add(&y, &x)
		m.diff.Subtract(&y, &x)
		m.t2d.Multiply(m.t2d.Multiply(&x, &y), twoD)
	}
	return out
}
