package monitor

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/prometheus/common/model"
)

// ref names a version of a model. The zero one stands for what a server has beside them.
type ref struct{ model, version string }

// refOf reads the labels of a series.
func refOf(m model.Metric) ref {
	if m["model"] == "" {
		return ref{}
	}
	return ref{string(m["model"]), string(m["version"])}
}

// String is what the ref is called in requests, as far as a terminal can be shown it.
func (r ref) String() string { return printable(r.model + ":" + r.version) }

// compare orders refs by name, and older versions before newer ones.
func (r ref) compare(other ref) int {
	return cmp.Or(cmp.Compare(r.model, other.model), cmp.Compare(len(r.version), len(other.version)), cmp.Compare(r.version, other.version))
}

// byModel tells the series of models apart, and from those of the server itself.
func (all series) byModel() map[ref]series {
	parts := map[ref]series{{}: {}}
	for name, list := range all {
		for _, s := range list {
			of := refOf(s.Metric)
			if parts[of] == nil {
				parts[of] = series{}
			}
			parts[of][name] = append(parts[of][name], s)
		}
	}
	return parts
}

// statesOf reads the states of all models but those that are neither in memory nor meant to be
// asked for, such as older versions.
func statesOf(all series) map[ref]string {
	served := map[ref]bool{}
	for _, s := range all[rules[resident].name] {
		served[refOf(s.Metric)] = true
	}
	states := map[ref]string{}
	for _, s := range all["dragoman_model_state"] {
		of, state := refOf(s.Metric), string(s.Metric["state"])
		if of != (ref{}) && s.Value > 0 && (served[of] || state != "unloaded") {
			states[of] = state
		}
	}
	return states
}

// measures are the numbers of a server, or of a part of it. Those that are not known are NaN.
type measures [numbers]float64

// measure reads the numbers of a part.
func measure(own series, ofModel bool) (m measures) {
	for n, rule := range rules {
		m[n] = rule.read(own, ofModel)
	}
	// The room of all steps until now: the limit is the same from start to end.
	m[stepRoom] = known(m[steps] * rowsLimit.read(own, ofModel))
	return m
}

// unknownMeasures knows nothing.
func unknownMeasures() (m measures) {
	for n := range m {
		m[n] = math.NaN()
	}
	return m
}

// together adds up what is known.
func together(parts iter.Seq[measures]) measures {
	sum := unknownMeasures()
	for part := range parts {
		for n, v := range part {
			switch {
			case math.IsNaN(v):
			case math.IsNaN(sum[n]):
				sum[n] = v
			default:
				sum[n] += v
			}
		}
	}
	for n := range sum {
		sum[n] = known(sum[n])
	}
	return sum
}

// since is m with its counters by how much they grew since an earlier sample of the same part.
func (m measures) since(earlier measures) measures {
	// A model that was loaded in between began to count again.
	reloaded := m[loads] > earlier[loads] || m[joins] < earlier[joins] || m[steps] < earlier[steps] || m[stepRows] < earlier[stepRows]
	for c := range counters {
		before := earlier[c]
		if math.IsNaN(before) || reloaded && ofEngine(c) {
			before = 0 // it had not begun to count
		}
		m[c] = max(0, m[c]-before)
	}
	return m
}

// growth are the parts of a sample, with their counters by how much they grew since an earlier
// sample of the server.
func (s *sample) growth(earlier *sample) map[ref]measures {
	grown := make(map[ref]measures, len(s.parts))
	for of, part := range s.parts {
		before, known := earlier.parts[of]
		if !known {
			before = unknownMeasures()
		}
		grown[of] = part.since(before)
	}
	return grown
}

// rowsOfModels has a row for each model of a server, by name and version; none where there are
// not several. parts are the server's.
func rowsOfModels(server *Row, states map[ref]string, parts map[ref]measures) (rows []Row) {
	if len(states) < 2 {
		return nil
	}
	for _, of := range slices.SortedFunc(maps.Keys(states), ref.compare) {
		numbers, known := parts[of]
		if !known {
			numbers = unknownMeasures()
		}
		rows = append(rows, Row{
			Time: server.Time, Server: server.Server, Seconds: server.Seconds, Restarted: server.Restarted,
			model: of, state: states[of], numbers: numbers,
		})
	}
	return rows
}
