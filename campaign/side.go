package campaign

import "net/http"

// Side is how to talk to the target at an address beside the load: a client with its
// certificates and proxy, the base URL without /v1, and the headers that go with every
// request, the key among them. getenv reads the environment.
func (t Target) Side(url string, getenv func(string) string) (client *http.Client, base string, header http.Header, err error) {
	w, err := t.reach(url, getenv)
	if err != nil {
		return nil, "", nil, err
	}
	return w.side, w.base, w.sideHeader, nil
}
