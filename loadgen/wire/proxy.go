package wire

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// ProxyFor returns the proxy that the environment names for a target URL, "" when it names
// none, for a caller whose user asked for the environment's proxy: it goes into
// [Config.Proxy]. The variables are HTTPS_PROXY or HTTP_PROXY by the target's scheme, then
// ALL_PROXY, in upper or lower case. A loopback target has no proxy, nor has one that
// NO_PROXY lists: by name, by domain (with or without a leading dot), by address, by CIDR
// range, each with or without a port, or by *.
func ProxyFor(target string, env func(string) string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("proxy: target %q has no host", target)
	}
	get := func(name string) string {
		if v := env(strings.ToLower(name)); v != "" {
			return v
		}
		return env(name)
	}
	raw := get(strings.ToUpper(u.Scheme) + "_PROXY")
	if raw == "" {
		raw = get("ALL_PROXY")
	}
	if raw == "" || loopback(u.Hostname()) || exempt(u, get("NO_PROXY")) {
		return "", nil
	}
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	if _, err := parseProxy(raw); err != nil {
		return "", err
	}
	return raw, nil
}

func loopback(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// exempt reports whether a NO_PROXY list names the target.
func exempt(u *url.URL, list string) bool {
	host := strings.ToLower(u.Hostname())
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, entry := range strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' }) {
		if entry == "*" {
			return true
		}
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			if isAddr && prefix.Contains(addr.Unmap()) {
				return true
			}
			continue
		}
		name := strings.Trim(entry, "[]")
		if h, p, err := net.SplitHostPort(entry); err == nil {
			if p != port {
				continue
			}
			name = h
		}
		if other, err := netip.ParseAddr(name); err == nil {
			if isAddr && other.Unmap() == addr.Unmap() {
				return true
			}
			continue
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "*"), ".")
		if name != "" && (host == name || strings.HasSuffix(host, "."+name)) {
			return true
		}
	}
	return false
}
