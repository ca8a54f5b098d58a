package engines

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// NormalizeBase turns what a user types for a server's address into the base URL that all
// routes are joined to, as base + "/v1/chat/completions" or base + "/metrics".
//
// A missing scheme is http. Trailing slashes, and one whole last segment "v1", fall away;
// so does the path of an OpenAI route after it, such as "/v1/chat/completions". Any other
// path, "/v1beta" for one, is kept. A bare IPv6 address gets its brackets.
func NormalizeBase(raw string) (base string, err error) {
	s := strings.TrimSpace(raw)
	if s == "" {
		return "", errors.New("server address is empty; give one such as http://localhost:8000")
	}
	if scheme, _, ok := strings.Cut(s, "://"); !ok {
		if host, ok := bareIPv6(s); ok {
			s = host
		}
		s = "http://" + s
	} else if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", fmt.Errorf("server address has scheme %.20q; only http and https are spoken", scheme)
	}
	_, rest, _ := strings.Cut(s, "://")
	authority, _, _ := strings.Cut(rest, "/")
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if strings.Count(host, ":") > 1 && !strings.Contains(host, "[") {
		return "", fmt.Errorf("IPv6 address %.60q needs brackets, as in http://[::1]:8000", host)
	}
	u, err := url.Parse(s)
	if err != nil {
		// The parser's error repeats the address, which may hold a password.
		return "", errors.New("server address is not a URL; give one such as http://localhost:8000 or http://[::1]:8000")
	}
	switch {
	case u.Hostname() == "":
		return "", errors.New("server address has no host; give one such as http://localhost:8000")
	case strings.ContainsAny(u.Hostname(), " \t\r\n\"<>\\"):
		return "", errors.New("server address has a host name with characters that no host has")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("server address has a query or fragment; give the address alone, and what the server needs beside it as a header")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", fmt.Errorf("server address has port %.20q; a port is between 1 and 65535", p)
		}
	}
	u.Scheme = strings.ToLower(u.Scheme)
	path := strings.TrimRight(u.EscapedPath(), "/")
	for _, route := range []string{"/chat/completions", "/completions", "/models", "/embeddings", "/responses"} {
		if rest, ok := strings.CutSuffix(path, "/v1"+route); ok {
			path = rest + "/v1"
			break
		}
	}
	path = strings.TrimRight(path, "/")
	if path == "/v1" || strings.HasSuffix(path, "/v1") {
		path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")
	}
	u.Path, u.RawPath = "", ""
	return u.String() + path, nil
}

// bareIPv6 puts brackets around an address typed without them, with nothing after it.
func bareIPv6(s string) (string, bool) {
	s = strings.TrimRight(s, "/")
	plain := func(r rune) bool {
		return r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z')
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() && strings.TrimFunc(a.Zone(), plain) == "" {
		return "[" + strings.ReplaceAll(s, "%", "%25") + "]", true
	}
	return "", false
}

// JoinHostPort is the base URL of a host and port, for flags that take them apart. The
// host may be an IPv6 address with or without brackets.
func JoinHostPort(host string, port int) string {
	if h, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(h, "]")
	}
	return "http://" + net.JoinHostPort(strings.ReplaceAll(host, "%", "%25"), strconv.Itoa(port))
}

// Redact returns a base URL without user name and password.
func Redact(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "(unreadable address)"
	}
	u.User = nil
	return u.String()
}
