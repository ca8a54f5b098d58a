package wire

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

var versionSegment = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]*)?$`)

// address returns the URL of the endpoint below base. A base that ends in the endpoint's
// own path is taken as it is. For an endpoint below a version segment, a base that has
// one, such as /v1 or /v1beta/openai, gets the path behind it; any other base gets /v1
// first. For an endpoint elsewhere, a last /v1 of the base is dropped.
func (a *api) address(base, model string, stream bool) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("base URL %q: want http://host:port or https://host:port", u.Redacted())
	}
	path := a.path
	if !stream && a.wholePath != "" {
		path = a.wholePath
	}
	path = strings.ReplaceAll(path, "MODEL", url.PathEscape(model))
	root := strings.TrimRight(u.EscapedPath(), "/")
	if !strings.HasSuffix(root, path) {
		switch {
		case a.versioned && !hasVersion(root):
			root += "/v1"
		case !a.versioned:
			root = strings.TrimSuffix(root, "/v1")
		}
		root += path
	}
	if u, err = u.Parse(root); err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	u.Fragment = ""
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
