package lint

import (
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"dragoman/app/config"
)

// The memory of a pod with a model of the size of facebook/m2m100_418M, as the manifests assume it.
const (
	besidesState = 1700 << 20 // all but KV_MEMORY
	besidesGPU   = 2500 << 20 // on a GPU, which holds the decoding state
	// Of a gateway, without requests and the cache.
	besidesModels = 512 << 20
	usual         = 1500 << 20 // under usual load
	tokenState    = 48 << 10   // per token of a beam, and per source token
	positions     = 1024       // of the model
)

// scaling must target the Deployment, use existing metrics, and not remove pods hastily, since they start slowly.
func scaling(s *subject) {
	target := s.scaler.Spec.ScaleTargetRef
	if target.APIVersion != "apps/v1" || target.Kind != "Deployment" || target.Name != s.deployment.Name {
		s.fail("the HorizontalPodAutoscaler scales %s %s of %s, not the Deployment", target.Kind, target.Name, target.APIVersion)
	}
	if s.deployment.Spec.Replicas != nil {
		s.fail("the Deployment sets replicas, which the autoscaler owns")
	}
	least := s.scaler.Spec.MinReplicas
	if least == nil || *least < 1 || *least > s.scaler.Spec.MaxReplicas {
		s.fail("the autoscaler's minReplicas do not fit its maxReplicas, %d", s.scaler.Spec.MaxReplicas)
	}
	for _, metric := range s.scaler.Spec.Metrics {
		checkMetric(s, metric)
	}
	behavior := s.scaler.Spec.Behavior
	if behavior == nil || behavior.ScaleUp == nil || behavior.ScaleDown == nil {
		s.fail("the autoscaler has the default behavior, which doubles every 15 s")
		return
	}
	down := behavior.ScaleDown.StabilizationWindowSeconds
	if down == nil || *down < 300 {
		s.fail("a pod that took minutes to start is given up within 5 minutes")
	}
	for _, policy := range behavior.ScaleDown.Policies {
		if policy.Type != autoscalingv2.PodsScalingPolicy || policy.Value > 1 || policy.PeriodSeconds < 60 {
			s.fail("the autoscaler gives up %d %s within %d s, not one at a time", policy.Value, policy.Type, policy.PeriodSeconds)
		}
	}
}

func checkMetric(s *subject, metric autoscalingv2.MetricSpec) {
	switch metric.Type {
	case autoscalingv2.PodsMetricSourceType:
		target := metric.Pods.Target
		if target.Type != autoscalingv2.AverageValueMetricType || target.AverageValue == nil || target.AverageValue.Sign() <= 0 {
			s.fail("metric %s has no averageValue as its target", metric.Pods.Metric.Name)
		}
	case autoscalingv2.ResourceMetricSourceType:
		name, target := metric.Resource.Name, metric.Resource.Target
		if target.Type != autoscalingv2.UtilizationMetricType || target.AverageUtilization == nil {
			s.fail("metric %s has no averageUtilization as its target", name)
		}
		if request := s.server.Resources.Requests[name]; request.IsZero() {
			s.fail("metric %s is a share of a request that the container does not make", name)
		}
	default:
		s.fail("a metric of the autoscaler is of type %s, not Pods or Resource", metric.Type)
	}
}

// memory must be enough for the settings, and scaling by memory must not keep idle pods.
func memory(s *subject) {
	request := s.server.Resources.Requests.Memory().Value()
	if s.settings.Role == config.Gateway {
		if need := 2*int64(s.settings.RequestMemory) + int64(s.settings.CacheBytes) + besidesModels; need > request {
			s.fail("REQUEST_MEMORY twice, CACHE_BYTES and the rest take %d MiB, a gateway has %d MiB", need>>20, request>>20)
		}
		return
	}
	state := int64(s.settings.KVMemory)
	onGPU := s.settings.Device == config.CUDA
	inPod, rest := state, int64(besidesState)
	if onGPU {
		inPod, rest = 0, besidesGPU
	}
	if all := int64(s.settings.ModelMemory); all > 0 && !onGPU { // memory of all models and their decoding state
		inPod = all
		if all < state {
			s.fail("MODEL_MEMORY is %d MiB, less than KV_MEMORY of %d MiB", all>>20, state>>20)
		}
	}
	if state == 0 || inPod+rest > request {
		s.fail("KV_MEMORY of %d MiB and %d MiB for the rest do not fit into %d MiB", inPod>>20, rest>>20, request>>20)
	}
	gpus := s.server.Resources.Requests["nvidia.com/gpu"]
	if onGPU == gpus.IsZero() {
		s.fail("the service runs with DEVICE=%s and requests %s GPUs", s.settings.Device, gpus.String())
	}
	need := int64(s.settings.MaxBeams*positions+positions) * tokenState
	if onGPU { // a GPU reserves as much for each row, and one row more
		need = int64(s.settings.MaxBeams+1) * 2 * positions * tokenState
	}
	if state < need {
		s.fail("KV_MEMORY is %d MiB, a sentence may take %d MiB: the service does not start", state>>20, need>>20)
	}
	for _, metric := range s.scaler.Spec.Metrics {
		if metric.Resource == nil || metric.Resource.Name != corev1.ResourceMemory || metric.Resource.Target.AverageUtilization == nil {
			continue
		}
		target := float64(request) * float64(*metric.Resource.Target.AverageUtilization) / 100
		for pods := 2; pods <= 8; pods++ { // maxReplicas depends on the cluster
			if kept := math.Ceil(float64(pods) * usual / target); int(kept) >= pods {
				s.fail("by memory %d idle pods stay %v: the target is %d MiB, pods take %d MiB", pods, kept, int64(target)>>20, usual>>20)
				break
			}
		}
	}
}

// observers must scrape often enough, with a timeout below the interval.
func observers(s *subject) {
	for _, monitor := range s.monitors {
		for _, endpoint := range monitor.Spec.Endpoints {
			interval, err := time.ParseDuration(string(endpoint.Interval))
			timeout, err2 := time.ParseDuration(string(endpoint.ScrapeTimeout))
			if err != nil || err2 != nil || timeout > interval || interval > 15*time.Second {
				s.fail("the ServiceMonitor looks every %q and waits %q: the autoscaler looks every 15 s", endpoint.Interval, endpoint.ScrapeTimeout)
			}
		}
	}
}

// resourceEqual reports whether two amounts are equal, in any notation.
func resourceEqual(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }
