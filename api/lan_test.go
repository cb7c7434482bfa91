package api

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"godwit/api/door"
)

func setTestPassword(t *testing.T, dir, password string) {
	t.Helper()
	if err := door.SetPassword(filepath.Join(dir, PasswordName), password); err != nil {
		t.Fatal(err)
	}
}

// trusting trusts the certificate of a fingerprint alone, as a person does who compares it.
func trusting(t *testing.T, fingerprint string) *http.Transport {
	t.Helper()
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true,
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if got := door.Fingerprint(&tls.Certificate{Certificate: raw}); got != fingerprint {
				return errors.New("another certificate: " + got)
			}
			return nil
		}}}
}
