package fleet

// keys is the prefix of the fleet's keys in Redis; see the table in the comment of this package. Redis Cluster keeps keys with
// the same word in braces on one server.
type keys string

func (k keys) workers() string               { return string(k) + ":{fleet}:workers" }
func (k keys) gateways() string              { return string(k) + ":{fleet}:gateways" }
func (k keys) known() string                 { return string(k) + ":{fleet}:known" }
func (k keys) catalogue(hash string) string  { return string(k) + ":{fleet}:catalogue:" + hash }
func (k keys) file(sha256 string) string     { return string(k) + ":{fleet}:file:" + sha256 }
func (k keys) replies(gateway string) string { return string(k) + ":{" + gateway + "}:replies" }
func (k keys) dead(queue string) string      { return string(k) + ":{" + queue + "}:dead" }

var laneNames = [3]string{"high", "normal", "low"}

// lanes returns the lanes of a queue, the most urgent first.
func (k keys) lanes(queue string) (lanes [len(laneNames)]string) {
	for i, name := range laneNames {
		lanes[i] = string(k) + ":{" + queue + "}:" + name
	}
	return lanes
}

// queueOf returns the queue of a model. Workers whose models have the same identity share it.
func queueOf(identity string) string { return identity[:min(len(identity), 16)] }

// group is the consumer group of the workers, in each lane.
const group = "workers"
