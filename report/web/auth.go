package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

const cookieName = "inferencebench_token"

// authorized checks the token. A right ?token= becomes a cookie and a redirect to the
// same page without it, so that it does not stay in the address bar. When it answers
// false it has written the response.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && s.right(t) {
		return true
	}
	if c, err := r.Cookie(cookieName); err == nil && s.right(c.Value) {
		return true
	}
	if t := r.URL.Query().Get("token"); t != "" && s.right(t) {
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: t, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
		q := r.URL.Query()
		q.Del("token")
		to := *r.URL
		to.RawQuery, to.Host, to.Scheme = q.Encode(), "", ""
		to.Path = "/" + strings.TrimLeft(to.Path, "/") // never another host
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return false
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="inferencebench"`)
	s.fail(w, http.StatusUnauthorized, "This server asks for a token: add ?token= and the token to the address once, or send it as a bearer token.")
	return false
}

// right compares in constant time.
func (s *Server) right(t string) bool {
	a, b := sha256.Sum256([]byte(t)), sha256.Sum256([]byte(s.cfg.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
