package client_test

import (
	"context"
	"fmt"

	"godwit/api/client"
	"godwit/internal/noop"
	"godwit/scheduler/message"
)

// A job of two tasks is handed to a node; when it is over, what each task printed is read. The program copies its
// standard input; any module for WASI preview 1 does, as `godwit build` makes them.
func Example() {
	ctx := context.Background()
	c, err := client.Open(client.Where{DataDir: nodeDir}) // client.Where{} is the node that `godwit` talks to
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	id, err := c.Submit(ctx, client.Job{
		File:   "name: greet\nmodule: copy.wasm\nstdin: \"{{.who}}.txt\"\nsweep: {who: [ada, grace]}\n",
		Module: noop.Copying,
		Inputs: map[string][]byte{"ada.txt": []byte("hello, ada"), "grace.txt": []byte("hello, grace")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	end, err := c.Follow(ctx, id, func(message.JobStatus) { /* show how far it is */ })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(end.Name, "is", end.State)
	for t, err := range c.Tasks(ctx, id) {
		if err != nil {
			fmt.Println(err)
			return
		}
		words, err := t.Read(ctx, "stdout")
		fmt.Printf("%s: %s, %v\n", t.Params["who"], words, err)
	}
	// Output:
	// greet is done
	// ada: hello, ada, <nil>
	// grace: hello, grace, <nil>
}
