package integrity

import (
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
)

// ownWork compares what was delivered with what the server's engine counted.
func (c *Check) ownWork(s *sides) finding {
	const (
		most = 0.8 // the default's engine explains at least this
		half = 0.5
	)
	share := func(ws []Sighting) (float64, bool) {
		made, sent := 0.0, 0
		for _, w := range ws {
			if w.Work.Generated >= 0 {
				made += w.Work.Generated
				sent += w.Work.Delivered
			}
		}
		return made / float64(max(sent, 1)), sent > 0
	}
	b, ok := share(s.base)
	h, ok2 := share(s.head)
	switch {
	case !ok || b < most:
		return unknown("the default's metrics do not count the tokens that it generates")
	case !ok2:
		return unknown("the server no longer counts the tokens that it generates")
	case h < half:
		return fail("the engine counted %.0f %% of the tokens that were delivered, with the default %.0f %%: something else answers", 100*h, 100*b)
	}
	return pass("the engine counted %.0f %% of the tokens that were delivered", 100*h)
}

// identity compares who the server says that it is.
func (c *Check) identity(s *sides) finding {
	b, h := s.base[0].Server, s.head[len(s.head)-1].Server
	switch {
	case b == h:
		return pass("the server names itself as with the default")
	case h.Via != "" && b.Via == "":
		return fail("replies came through %q, which the default's did not", h.Via)
	case b.Engine != h.Engine || b.Version != h.Version:
		return fail("the server is %s %s, with the default it was %s %s", h.Engine, h.Version, b.Engine, b.Version)
	case b.Header != h.Header:
		return fail("the server calls itself %q, with the default it was %q", h.Header, b.Header)
	}
	return pass("the server names itself as with the default")
}

// runs judges what the trials' own runs show: whether their speed is possible, and whether
// the device worked at all.
func (c *Check) runs(baseline, challenger []tuner.Trial) []tuner.Verdict {
	const (
		busy = 20 // per cent of the time in which a kernel ran
		idle = 3
	)
	var out []tuner.Verdict
	add := func(name string, f finding) {
		out = append(out, tuner.Verdict{Check: Name + "/" + name, Passed: f.passed, Message: f.text})
	}
	usual, any := utilisation(analyses(baseline))
	heads := analyses(challenger)
	if len(heads) == 0 {
		return nil
	}
	plausible := unknown("device and model's shape are not known, so it is open whether the speed is possible")
	for _, a := range heads {
		for _, g := range a.Gates {
			if ok, known := g.Passed.Get(); g.ID == "plausibility" && known {
				if plausible = pass("the speed is possible on this device (%s)", g.Observed); !ok {
					plausible = fail("the speed is more than this device can do with this model (%s)", g.Observed)
				}
			}
		}
		if !plausible.passed.Or(true) {
			break
		}
	}
	add("plausible", plausible)
	if now, ok := utilisation(heads); any && ok && usual >= busy {
		if now < idle {
			add("device", fail("the device was busy %.0f %% of the time, with the default %.0f %%: something else answers", now, usual))
		} else {
			add("device", pass("the device was busy %.0f %% of the time, with the default %.0f %%", now, usual))
		}
	}
	return out
}

// analyses are those of the runs of trials. A run that cannot be read has none.
func analyses(trials []tuner.Trial) []*archive.Analysis {
	var out []*archive.Analysis
	for _, t := range trials {
		if t.Run == "" {
			continue
		}
		run, err := archive.Open(t.Run)
		if err != nil {
			continue // a run that was moved away is no reason to stop a challenger
		}
		if a, err := run.Analysis(); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// utilisation is the mean of the devices' utilisation in per cent.
func utilisation(as []*archive.Analysis) (float64, bool) {
	sum, n := 0.0, 0
	for _, a := range as {
		for _, e := range a.Evidence {
			if v, ok := e.Value.Get(); ok && e.Metric == "gpu_util" {
				sum += v
				n++
			}
		}
	}
	return sum / float64(max(n, 1)), n > 0
}
