// A guest in Go for measurements: one of several kinds of work, named by the
// first argument. The second is how much of it.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type order struct {
	ID    int               `json:"id"`
	Name  string            `json:"name"`
	Lines []line            `json:"lines"`
	Notes map[string]string `json:"notes,omitempty"`
}

type line struct {
	Article string  `json:"article"`
	Count   int     `json:"count"`
	Price   float64 `json:"price"`
}

// documents are written and read back: reflection, small objects, text.
func documents(n int) string {
	sum := fnv.New64a()
	for i := range n {
		o := order{ID: i, Name: "order " + strconv.Itoa(i), Notes: map[string]string{"a": "b\n", "ü": "<&>"}}
		for j := range 20 {
			o.Lines = append(o.Lines, line{fmt.Sprint("article ", i*j%97), j, float64(i*j) / 7})
		}
		b, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		var back order
		if err := json.Unmarshal(b, &back); err != nil {
			panic(err)
		}
		fmt.Fprint(sum, len(b), back.Lines[len(back.Lines)-1].Price)
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// sorted compares through a function value, and through a type's own order.
func sorted(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	numbers, names := make([]int, n), make([]string, n/4)
	for i := range numbers {
		numbers[i] = int(rng.Uint32())
	}
	for i := range names {
		names[i] = strconv.FormatUint(rng.Uint64(), 36)
	}
	slices.SortFunc(numbers, func(a, b int) int { return a%1000 - b%1000 })
	slices.Sort(numbers)
	slices.Sort(names)
	return fmt.Sprint(numbers[n/2], names[n/8])
}

func hashed(n int) string {
	block := bytes.Repeat([]byte("godwit "), 1000)
	for i := range n {
		sum := sha256.Sum256(block)
		copy(block[i%100*32:], sum[:])
	}
	return fmt.Sprintf("%x", sha256.Sum256(block))
}

// words are found, counted in a map and thrown away: the collector runs.
func words(n int) string {
	word := regexp.MustCompile(`([a-z]+)(\d+)(?:-([a-f]+|x))?`)
	counts := map[string]int{}
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		var text strings.Builder
		for range 100 {
			fmt.Fprintf(&text, "w%d-%s, ", rng.IntN(5000), []string{"abc", "x", "zz"}[rng.IntN(3)])
		}
		for _, m := range word.FindAllStringSubmatch(text.String(), -1) {
			counts[m[1]+m[2]+m[3]]++
		}
	}
	most, times := "", 0
	for w, c := range counts {
		if c > times || c == times && w < most {
			most, times = w, c
		}
	}
	return fmt.Sprint(len(counts), most, times)
}

// numbers are large integers, and floats in a row.
func numbers(n int) string {
	a, b := big.NewInt(0), big.NewInt(1)
	for range n {
		a.Add(a, b)
		a, b = b, a
	}
	power := new(big.Int).Exp(big.NewInt(3), a, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 521), big.NewInt(1)))
	x, energy := 0.1, 0.0
	for i := range n * 100 {
		x = 3.9 * x * (1 - x)
		energy += math.Sqrt(x) * math.Sin(float64(i)) / (1 + x)
	}
	return fmt.Sprintf("%d %s %.12g", b.BitLen(), power.Text(62), energy)
}

func main() {
	kinds := map[string]func(int) string{"documents": documents, "sorted": sorted, "hashed": hashed, "words": words, "numbers": numbers}
	if len(os.Args) != 3 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: KIND AMOUNT")
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Println(os.Args[1], kinds[os.Args[1]](n))
}
