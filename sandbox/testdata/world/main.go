// World uses what an ordinary Go program uses of its system, and prints what
// it sees. Every line must be the same on every machine.
package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(7)
	}
}

func main() {
	switch os.Args[1] {
	case "world":
		world()
	case "spin": // a program that waits by looking at the clock
		for start := time.Now(); time.Since(start) < 100*time.Millisecond; {
		}
		fmt.Println("done")
	case "hog":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
		}
	case "flood":
		for {
			fmt.Println("flood")
		}
	case "files":
		for i := 0; ; i++ {
			_ = os.WriteFile(fmt.Sprintf("f%d", i), nil, 0o644) // it does not even look
		}
	case "dirs":
		for i := 0; ; i++ {
			_ = os.Mkdir(fmt.Sprintf("d%d", i), 0o755)
		}
	case "bytes":
		f, err := os.Create("big")
		check(err)
		for {
			_, _ = f.Write(make([]byte, 1<<16))
		}
	case "panic":
		panic("no way on")
	case "deadlock":
		select {}
	}
}

func world() {
	fmt.Println("args", strings.Join(os.Args[1:], " "), "env", os.Getenv("QUALITY"))
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println("stdin", in.Text())
	}
	b, err := os.ReadFile("data/in.txt")
	check(err)
	fmt.Printf("input %s\n", b)
	if err := os.WriteFile("data/in.txt", b, 0o644); !errors.Is(err, fs.ErrPermission) {
		check(fmt.Errorf("an input could be written: %v", err))
	}
	check(os.MkdirAll("out/deep/er", 0o755))
	check(os.WriteFile("out/deep/er/a.txt", []byte("a"), 0o644))
	f, err := os.OpenFile("out/deep/er/a.txt", os.O_APPEND|os.O_WRONLY, 0)
	check(err)
	_, err = f.WriteString("ppended")
	check(err)
	check(f.Close())
	check(os.Rename("out/deep/er/a.txt", "out/b.txt"))
	check(os.Symlink("b.txt", "out/link"))
	b, err = os.ReadFile("out/link")
	check(err)
	fmt.Printf("link %s\n", b)
	check(os.Remove("out/link"))
	check(os.RemoveAll("out/deep"))
	check(filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		check(err)
		fmt.Println("walk", path, d.Type())
		return nil
	}))
	_, err = os.Open("../../etc/passwd")
	fmt.Println("outside", err != nil)
	random := make([]byte, 8)
	_, err = rand.Read(random)
	check(err)
	fmt.Printf("random %x\n", random)
	start := time.Now()
	fmt.Println("year", start.UTC().Year())
	var wg sync.WaitGroup
	order := make(chan int, 3)
	for i := range 3 {
		wg.Go(func() {
			time.Sleep(time.Duration(3-i) * time.Hour)
			order <- i
		})
	}
	wg.Wait()
	fmt.Println("order", <-order, <-order, <-order, "slept", time.Since(start).Round(time.Hour))
}
