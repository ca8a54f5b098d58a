package engines

import (
	"strings"
	"testing"
)

func TestNormalizeBase(t *testing.T) {
	const chat = "/v1/chat/completions"
	tests := []struct{ why, in, want string }{
		{"no path", "http://h:8000", "http://h:8000" + chat},
		{"a trailing slash", "http://h:8000/", "http://h:8000" + chat},
		{"with /v1", "http://h:8000/v1", "http://h:8000" + chat},
		{"with /v1/ and more slashes", "http://h:8000/v1//", "http://h:8000" + chat},
		{"a path in front of /v1", "https://h/llm/v1", "https://h/llm" + chat},
		{"a path without /v1", "https://h/llm", "https://h/llm" + chat},
		{"v1beta is no v1", "https://h/v1beta", "https://h/v1beta" + chat},
		{"nor is a host's v1", "https://v1", "https://v1" + chat},
		{"nor a segment that ends in v1", "https://h/apiv1", "https://h/apiv1" + chat},
		{"only the last v1 is folded", "https://h/v1/v1", "https://h/v1" + chat},
		{"a full chat URL", "http://h:8000/v1/chat/completions", "http://h:8000" + chat},
		{"a full completions URL", "http://h:8000/x/v1/completions/", "http://h:8000/x" + chat},
		{"no scheme", "localhost:8000", "http://localhost:8000" + chat},
		{"no scheme, no port", "gpu-box", "http://gpu-box" + chat},
		{"upper-case scheme", "HTTPS://h/V1", "https://h/V1" + chat},
		{"IPv6 in brackets", "http://[::1]:8000/v1", "http://[::1]:8000" + chat},
		{"IPv6 in brackets, no scheme", "[::1]:8000", "http://[::1]:8000" + chat},
		{"bare IPv6", "::1", "http://[::1]" + chat},
		{"a zone", "http://[fe80::1%25eth0]:8000", "http://[fe80::1%25eth0]:8000" + chat},
		{"spaces around", "  http://h:1 \n", "http://h:1" + chat},
		{"escapes in the path stay", "http://h/a%2Fb/v1", "http://h/a%2Fb" + chat},
	}
	for _, tt := range tests {
		got, err := NormalizeBase(tt.in)
		if err != nil || got+chat != tt.want {
			t.Errorf("%s: NormalizeBase(%q) = %q, %v; want a chat URL %q", tt.why, tt.in, got, err, tt.want)
		}
		again, err := NormalizeBase(got)
		if err != nil || (again != got && tt.in != "https://h/v1/v1") {
			t.Errorf("%s: NormalizeBase(%q) = %q, %v; want it unchanged", tt.why, got, again, err)
		}
	}
	for in, words := range map[string]string{
		"": "empty", "   ": "empty", "ftp://h": "scheme", "http://": "no host", "http://:8000": "no host",
		"http://::1:8000": "brackets", "http://h:99999": "port", "http://h:0": "port", "http://h:8000?x=1": "query",
		"http://h/#a": "fragment", "http://u:hunter2@h:port": "not a URL", "unix:///tmp/s": "scheme", "http://a b": "URL",
	} {
		got, err := NormalizeBase(in)
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("NormalizeBase(%q) = %q, %v; want an error with %q", in, got, err, words)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("NormalizeBase(%q): the error shows the password", in)
		}
	}
}

func TestJoinHostPort(t *testing.T) {
	for host, want := range map[string]string{
		"::1": "http://[::1]:8000", "[::1]": "http://[::1]:8000", "localhost": "http://localhost:8000", "10.0.0.1": "http://10.0.0.1:8000",
	} {
		got := JoinHostPort(host, 8000)
		if base, err := NormalizeBase(got); got != want || err != nil || base != want {
			t.Errorf("JoinHostPort(%q, 8000) = %q (normalized %q, %v); want %q", host, got, base, err, want)
		}
	}
}

func TestRedact(t *testing.T) {
	if got := Redact("https://user:secret@h:8000/x"); got != "https://h:8000/x" {
		t.Errorf("Redact = %q; want it without user and password", got)
	}
}

func FuzzNormalizeBase(f *testing.F) {
	for _, s := range []string{"http://h:8000/v1", "::1", "[::1]:8000", "https://h/v1beta/", "x://y", "http://h/%zz", "http://u:p@h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := NormalizeBase(in)
		if err != nil {
			return
		}
		if !strings.HasPrefix(got, "http://") && !strings.HasPrefix(got, "https://") {
			t.Fatalf("NormalizeBase(%q) = %q has no scheme", in, got)
		}
		if strings.HasSuffix(got, "/") {
			t.Fatalf("NormalizeBase(%q) = %q ends in a slash", in, got)
		}
		if _, err := NormalizeBase(got); err != nil {
			t.Fatalf("NormalizeBase(%q) = %q, which it does not take back: %v", in, got, err)
		}
	})
}
