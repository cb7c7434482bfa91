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

// encodedAll returns points as they are in keys and signatures (RFC 8032, section 5.1.2), with one
// inversion for all.
func encodedAll(sums []sum) [][32]byte {
	out := make([][32]byte, len(sums))
	zs := make([]*field.Element, len(sums))
	for i := range sums {
		zs[i] = &sums[i].z
	}
	for i, inverse := range inverses(zs) {
		var x, y field.Element
		x.Multiply(&sums[i].x, &inverse)
		y.Multiply(&sums[i].y, &inverse)
		copy(out[i][:], y.Bytes())
		out[i][31] |= byte(x.IsNegative() << 7)
	}
	return out
}

// inverses returns the inverses of elements that are not zero, as no Z of a point is, for the price of
// one and three products each (Montgomery, "Speeding the Pollard and elliptic curve methods of
// factorization", 1987, section 10.3.1).
func inverses(of []*field.Element) []field.Element {
	out := make([]field.Element, len(of))
	all := new(field.Element).One()
	for i, x := range of {
		out[i].Set(all) // the product of all before it
		all.Multiply(all, x)
	}
	all.Invert(all)
	for i := len(of) - 1; i >= 0; i-- {
		out[i].Multiply(&out[i], all)
		all.Multiply(all, of[i])
	}
	return out
}

// multiplesOf makes points that are to be added of some of edwards25519's, with one inversion for all.
func multiplesOf(points []*edwards25519.Point) []multiple {
	out := make([]multiple, len(points))
	xs, ys, zs := make([]*field.Element, len(points)), make([]*field.Element, len(points)), make([]*field.Element,
		len(points))
	for i, p := range points {
		xs[i], ys[i], zs[i], _ = p.ExtendedCoordinates()
	}
	for i, inverse := range inverses(zs) {
		var x, y field.Element
		x.Multiply(xs[i], &inverse)
		y.Multiply(ys[i], &inverse)
		m := &out[i]
		m.sum.Add(&y, &x)
		m.diff.Subtract(&y, &x)
		m.t2d.Multiply(m.t2d.Multiply(&x, &y), twoD)
	}
	return out
}
