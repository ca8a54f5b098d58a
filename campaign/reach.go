package campaign

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"

	"github.com/inferencebench/inferencebench/engines"
)

// way is how to talk to a target.
type way struct {
	base       string
	key        string
	header     http.Header // of the load: without the key
	proxy      string
	side       *http.Client // of everything but the load
	sideHeader http.Header  // with the key
}

// reach resolves address, key, headers, proxy and certificates.
func (t Target) reach(raw string, getenv func(string) string) (way, error) {
	var w way
	var err error
	if w.base, err = engines.NormalizeBase(raw); err != nil {
		return w, Problems{{Field: "target.url", Message: err.Error()}}
	}
	if w.header, err = t.headers(getenv); err != nil {
		return w, err
	}
	if t.KeyEnv != "" {
		w.key = getenv(t.KeyEnv)
	}
	if w.proxy, err = t.proxy(w.base, getenv); err != nil {
		return w, Problems{{Field: "target.proxy", Message: err.Error()}}
	}
	if w.side, err = sideClient(t, w.proxy); err != nil {
		return w, err
	}
	w.sideHeader = w.header.Clone()
	if w.key != "" && w.sideHeader.Get("Authorization") == "" {
		w.sideHeader.Set("Authorization", "Bearer "+w.key)
	}
	return w, nil
}

// sideClient is the HTTP client of everything but the load: discovery and metrics.
func sideClient(t Target, proxy string) (*http.Client, error) {
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: t.Insecure}, MaxIdleConnsPerHost: 4, DisableCompression: true}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, Problems{{Field: "target.ca_file", Message: err.Error()}}
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, Problems{{Field: "target.ca_file", Message: t.CAFile + " holds no PEM certificate"}}
		}
		tr.TLSClientConfig.RootCAs = pool
	}
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil {
			return nil, Problems{{Field: "target.proxy", Message: "not a URL"}}
		}
		tr.Proxy = http.ProxyURL(u)
	}
	return &http.Client{Transport: tr}, nil
}
