package wire

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// path returns the endpoint's path below the API's root, and whether the root has a
// version segment such as /v1.
func (e Endpoint) path() (path string, versioned bool, ok bool) {
	switch e {
	case EndpointChat:
		return "/chat/completions", true, true
	case EndpointCompletions:
		return "/completions", true, true
	}
	return "", false, false
}

var versionSegment = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]*)?$`)

// endpointURL returns the URL of an endpoint below base. A base that ends in the
// endpoint's own path is taken as it is. A base with a version segment, such as /v1 or
// /v1beta/openai, gets the endpoint's path behind it; any other base gets /v1 first.
func endpointURL(base string, e Endpoint) (*url.URL, error) {
	path, versioned, ok := e.path()
	if !ok {
		return nil, fmt.Errorf("endpoint %q is not known", e)
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("base URL %q: want http://host:port or https://host:port", u.Redacted())
	}
	root := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(root, path) {
		if versioned && !hasVersion(root) {
			root += "/v1"
		}
		root += path
	}
	u.Path, u.RawPath, u.Fragment = root, "", ""
	return u, nil
}

func hasVersion(path string) bool {
	for _, s := range strings.Split(path, "/") {
		if versionSegment.MatchString(s) {
			return true
		}
	}
	return false
}
