package allot

// mostPivots bounds the steps of one solution; those of random problems of the
// largest size were below 600.
const mostPivots = 20_000

// stuck is after how many pivots without gain Bland's rule takes over, which
// cannot go round in a circle.
const stuck = 50

// tiny is what counts as 0 in a tableau whose rows and columns are scaled to
// about 1.
const tiny = 1e-10

// maximize solves the program of the groups by the simplex method, on a tableau
// (Dantzig 1963). All parts 0 is feasible, so that no first phase is needed. It
// returns the shares by group and then by place in classes.
//
// Rows: a class each (lambda alpha_i - sum of delta_ig mu_ig <= 0), then a group
// each (sum of delta_ig <= a_g). Columns: lambda, the delta by group and class,
// the slacks, the right side. Arrivals, rates and capacities are scaled, so that
// tiny means the same to all.
func (p *Problem) maximize(classes []int, groups []group) (lambda float64, shares [][]float64, ok bool) {
	n, m := len(classes), len(groups)
	t, unit, whole := p.program(classes, groups)
	if !t.solve() {
		return 0, nil, false
	}
	shares = make([][]float64, m)
	for g := range shares {
		shares[g] = make([]float64, n)
	}
	for r, column := range t.basis {
		v := max(0, t.rows[r][t.width-1]) * whole
		switch {
		case column == 0:
			lambda = v / unit
		case column <= n*m:
			shares[(column-1)/n][(column-1)%n] = v
		}
	}
	return lambda, shares, true
}

// program is the tableau; unit and whole are what lambda and shares are scaled by.
func (p *Problem) program(classes []int, groups []group) (t *tableau, unit, whole float64) {
	n, m := len(classes), len(groups)
	t = newTableau(n+m, 1+n*m)
	for _, g := range groups {
		whole += g.capacity
	}
	scale := make([]float64, n) // of a class: its greatest rate
	for k, i := range classes {
		for _, g := range groups {
			scale[k] = max(scale[k], g.rates[i])
		}
		unit = max(unit, p.Arrivals[i]/scale[k])
	}
	for k, i := range classes {
		row := t.rows[k]
		row[0] = p.Arrivals[i] / scale[k] / unit
		for g := range groups {
			row[1+g*n+k] = -groups[g].rates[i] / scale[k]
		}
	}
	for g := range groups {
		row := t.rows[n+g]
		for k := range classes {
			row[1+g*n+k] = 1
		}
		row[t.width-1] = groups[g].capacity / whole
	}
	t.goal[0] = -1
	return t, unit, whole
}

// A tableau is a linear program in a form from which the simplex method goes on:
// the columns of basis are those of a unit matrix, the last column is never
// below 0.
type tableau struct {
	rows  [][]float64
	goal  []float64 // negative where a column would raise the aim
	basis []int     // by row
	width int
}

// newTableau has so many rows and variables; slacks are in the basis.
func newTableau(rows, variables int) *tableau {
	t := &tableau{width: variables + rows + 1, basis: make([]int, rows)}
	cells := make([]float64, (rows+1)*t.width)
	for r := range rows {
		t.rows = append(t.rows, cells[r*t.width:(r+1)*t.width])
		t.rows[r][variables+r], t.basis[r] = 1, variables+r
	}
	t.goal = cells[rows*t.width:]
	return t
}

// solve pivots to the optimum. It says whether it came there.
func (t *tableau) solve() bool {
	still := 0
	for range mostPivots {
		column := t.enter(still >= stuck)
		if column < 0 {
			return true
		}
		row := t.leave(column)
		if row < 0 {
			return false // without bound: no problem that Solve admits is
		}
		before := t.goal[t.width-1]
		t.pivot(row, column)
		if still++; t.goal[t.width-1] > before+tiny {
			still = 0
		}
	}
	return false
}

// enter is the column that raises the aim the most, or by Bland's rule the first
// that does; -1 at the optimum.
func (t *tableau) enter(bland bool) int {
	best := -1
	for c, v := range t.goal[:t.width-1] {
		if v < -tiny && (best < 0 || v < t.goal[best]) {
			if best = c; bland {
				break
			}
		}
	}
	return best
}

// leave is the row that bounds a column first, of equal ones that of the lowest
// variable; -1 if none does.
func (t *tableau) leave(column int) int {
	best, least := -1, 0.0
	for r, row := range t.rows {
		if row[column] <= tiny {
			continue
		}
		ratio := row[t.width-1] / row[column]
		if best < 0 || ratio < least-tiny || ratio <= least+tiny && t.basis[r] < t.basis[best] {
			best, least = r, ratio
		}
	}
	return best
}

// pivot brings a column into the basis in place of a row's.
func (t *tableau) pivot(row, column int) {
	from := t.rows[row]
	by := 1 / from[column]
	for c := range from {
		from[c] *= by
	}
	from[column] = 1
	for r, to := range t.rows {
		if r != row {
			eliminate(to, from, column)
		}
	}
	eliminate(t.goal, from, column)
	t.basis[row] = column
}

// eliminate takes so much of a row from another that it has 0 in a column.
func eliminate(to, from []float64, column int) {
	by := to[column]
	if by == 0 {
		return
	}
	for c, v := range from {
		if v != 0 {
			to[c] -= by * v
		}
	}
	to[column] = 0
	// What rounding put below 0 in the right side would make a later ratio negative.
	if last := len(to) - 1; to[last] < 0 && to[last] > -tiny {
		to[last] = 0
	}
}
