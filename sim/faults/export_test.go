package faults

// What the tests over HTTP share with those of the offline runs.
type Digest = digest

// Look reads what the symptom tests look at.
func Look(r *Run) Digest { return look(r) }

// In returns the digest with the client's times, which passed at so many simulated seconds a
// second, as simulated ones.
func (d digest) In(speed float64) Digest {
	for _, v := range []*float64{&d.ttft50, &d.tpot50, &d.itlP99, &d.lag50} {
		*v *= speed
	}
	return d
}

// Shown reports whether a condition's symptom shows beside a healthy run, both over HTTP.
func Shown(id string, d, h Digest) (symptom string, shown bool) {
	s := httpSymptoms[id]
	return s.text, s.shown != nil && s.shown(d, h)
}
