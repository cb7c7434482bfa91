package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"godwit/node"
)

// usualDays is how far credit goes back where nobody says.
const usualDays = 30

// days reads how many days count.
func days(r *http.Request) (int, error) {
	text := r.URL.Query().Get("days")
	if text == "" {
		return usualDays, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > node.MaxCreditDays {
		return 0, inputError(errors.New("days must be a whole number from 1 to " + strconv.Itoa(node.MaxCreditDays)))
	}
	return n, nil
}

func (s pages) credit(w http.ResponseWriter, r *http.Request) error {
	n, err := days(r)
	if err != nil {
		return err
	}
	c, err := s.node.Credit(r.Context(), n)
	return writeJSON(w, c, err)
}

func (s pages) poolCredit(w http.ResponseWriter, r *http.Request) error {
	n, err := days(r)
	if err != nil {
		return err
	}
	id, err := s.overlayID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	c, err := s.node.PoolCredit(r.Context(), id, n)
	return writeJSON(w, c, err)
}

// Credit returns what this machine gave in the last days, today among them.
func (c *Client) Credit(ctx context.Context, days int) (out node.Credit, err error) {
	return out, c.get(ctx, "/v1/credit", daysQuery(days), &out)
}

// PoolCredit returns who gave what in an overlay in the last days, by the thanks that its members show.
func (c *Client) PoolCredit(ctx context.Context, ref string, days int) (out node.PoolCredit, err error) {
	return out, c.get(ctx, overlayPath(ref, "/credit"), daysQuery(days), &out)
}

func daysQuery(days int) url.Values { return url.Values{"days": {strconv.Itoa(days)}} }
