// A guest in Go: one of several small computations, named by the first argument.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sort"
	"strconv"
)

func arg(n, def int) int {
	if len(os.Args) > n {
		v, err := strconv.Atoi(os.Args[n])
		if err == nil {
			return v
		}
	}
	return def
}

func solve(all, cols, left, right uint32) (found int) {
	if cols == all {
		return 1
	}
	for free := all &^ (cols | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		found += solve(all, cols|bit, (left|bit)<<1, (right|bit)>>1)
	}
	return found
}

func primes(limit int) (count int) {
	for n := 2; n < limit; n++ {
		prime := true
		for d := 2; d*d <= n; d++ {
			if n%d == 0 {
				prime = false
				break
			}
		}
		if prime {
			count++
		}
	}
	return count
}

func matmul(n, turns int) (trace float64) {
	a, b, c := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i], b[i] = float64(i%17)*0.5, float64(i%13)*0.25
	}
	for range turns {
		for i := range n {
			for j := range n {
				sum := 0.0
				for k := range n {
					sum += a[i*n+k] * b[k*n+j]
				}
				c[i*n+j] = sum
			}
		}
		for i := range n {
			trace += c[i*n+i]
			a[i] += c[i] * 1e-9
		}
	}
	return trace
}

func chain(turns int) [32]byte {
	var h [32]byte
	for range turns {
		h = sha256.Sum256(h[:])
	}
	return h
}

func mixed(n int) string {
	work, sums := make(chan int), make(chan uint64)
	for w := range 4 {
		go func() {
			seen := map[int]uint64{}
			total := uint64(0)
			for i := range work {
				seen[i%97] += uint64(i * (w + 1))
				s := fmt.Sprintf("%d-%d", i, len(seen))
				h := sha256.Sum256([]byte(s))
				total += uint64(h[0])
			}
			sums <- total
		}()
	}
	for i := range n {
		work <- i
	}
	close(work)
	total := uint64(0)
	for range 4 {
		total += <-sums
	}
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, strconv.Itoa(i*7919%n))
	}
	sort.Strings(names)
	return fmt.Sprint(total, names[n/2])
}

func main() {
	what := "nqueens"
	if len(os.Args) > 1 {
		what = os.Args[1]
	}
	switch what {
	case "nqueens":
		n := arg(2, 7)
		fmt.Println(n, "queens:", solve(1<<n-1, 0, 0, 0))
	case "primes":
		fmt.Println(primes(arg(2, 3000)), "primes")
	case "matmul":
		fmt.Printf("trace %.17g\n", matmul(arg(2, 24), arg(3, 2)))
	case "sha256":
		fmt.Printf("%x\n", chain(arg(2, 200)))
	case "mixed":
		fmt.Println(mixed(arg(2, 300)))
	}
}
