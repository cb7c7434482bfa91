package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"godwit/scheduler/message"
)

// clientOf returns a client whose connections a function serves.
func clientOf(serve func(net.Conn)) *Client {
	return &Client{base: "http://node", http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go serve(server)
			return client, nil
		}}}}
}

// hears reads the first byte of a request, and the rest in the background. An answer that is sent before any of its request
// arrives breaks the connection.
func hears(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1))
	go io.Copy(io.Discard, conn)
}

// A client gives up on a node that accepts a connection and sends nothing, or that stops in the middle of an answer.
func TestClientGivesUpOnSilentNode(t *testing.T) {
	const begins = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
	const usual, long = answerTime + graceTime, longTime + graceTime
	for name, c := range map[string]struct {
		sends string
		ask   func(context.Context, *Client) error
		takes time.Duration
	}{
		"nothing":        {"", func(ctx context.Context, c *Client) error { _, err := c.Status(ctx); return err }, usual},
		"half an answer": {begins, func(ctx context.Context, c *Client) error { _, err := c.Jobs(ctx); return err }, usual},
		"no word of a job": {begins, func(ctx context.Context, c *Client) error {
			return c.Watch(ctx, "job", func(message.JobStatus) bool { return true })
		}, usual},
		"a job not taken": {"", func(ctx context.Context, c *Client) error {
			_, err := c.Submit(ctx, SubmitRequest{File: "module: a"})
			return err
		}, long},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := clientOf(func(conn net.Conn) {
					hears(conn)
					io.WriteString(conn, c.sends)
				})
				begun := time.Now()
				err := c.ask(t.Context(), client)
				if took := time.Since(begun); !errors.Is(err, ErrSilent) || took != c.takes {
					t.Errorf("%v after %v, want ErrSilent after %v", err, took, c.takes)
				}
			})
		})
	}
}

// A stream lasts as long as the node sends.
func TestClientFollowsSlowStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(func(conn net.Conn) {
			hears(conn)
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
			for range 100 {
				time.Sleep(answerTime)
				fmt.Fprint(conn, "{}\n")
			}
			conn.Close()
		})
		heard := 0
		if err := client.Watch(t.Context(), "job", func(message.JobStatus) bool { heard++; return true }); err != nil ||
			heard != 100 {
			t.Errorf("%d states came, %v", heard, err)
		}
	})
}
