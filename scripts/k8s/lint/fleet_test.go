package lint

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"dragoman/app/config"
	"dragoman/scripts/k8s/manifests"
)

// fleet has the objects of a fleet for the rules about it as a whole.
type fleet struct {
	workers, gateways *subject
	scaler            *kedav1alpha1.ScaledObject
	broker            manifests.Set // empty if the fleet uses another one
	policies          []*networkingv1.NetworkPolicy

	faults []error
}

func isFleet(set manifests.Set) bool {
	return len(manifests.All[*kedav1alpha1.ScaledObject](set)) > 0
}

// checkFleet returns all faults of a fleet: faults of workers and of gateways by the rules for a service, and faults between
// them.
func checkFleet(set manifests.Set) error {
	f := &fleet{policies: manifests.All[*networkingv1.NetworkPolicy](set), broker: part(set, "broker")}
	var errs [3]error
	if f.scaler, errs[0] = manifests.One[*kedav1alpha1.ScaledObject](set); errs[0] != nil {
		return errs[0]
	}
	f.workers, errs[1] = newSubject(append(part(set, "worker"), autoscaler(f.scaler)))
	f.gateways, errs[2] = newSubject(part(set, "gateway"))
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for _, s := range []*subject{f.workers, f.gateways} {
		for _, rule := range rules {
			rule(s)
		}
		f.faults = append(f.faults, s.faults...)
	}
	for _, rule := range []func(*fleet){roles, neighbours, trigger, redis, connections} {
		rule(f)
	}
	return errors.Join(f.faults...)
}

func (f *fleet) fail(format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf(format, args...))
}

// part returns the objects of a component in a set, and the shared ones. The Service of clients belongs to gateways.
func part(set manifests.Set, name string) manifests.Set {
	return slices.DeleteFunc(slices.Clone(set), func(o runtime.Object) bool {
		label := o.(metav1.Object).GetLabels()[component]
		if label == "api" {
			label = "gateway"
		}
		return label != name && (label != "translation" || name == "broker")
	})
}

// autoscaler returns KEDA's autoscaler for an object, without metrics.
func autoscaler(o *kedav1alpha1.ScaledObject) *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	if target := o.Spec.ScaleTargetRef; target != nil {
		h.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: target.APIVersion, Kind: target.Kind, Name: target.Name}
	}
	h.Spec.MinReplicas, h.Spec.MaxReplicas = o.GetHPAMinReplicas(), o.GetHPAMaxReplicas()
	if a := o.Spec.Advanced; a != nil && a.HorizontalPodAutoscalerConfig != nil {
		h.Spec.Behavior = a.HorizontalPodAutoscalerConfig.Behavior
	}
	return h
}

// roles must match the names, and have one version and one broker.
func roles(f *fleet) {
	w, g := f.workers, f.gateways
	if w.settings.Role != config.Worker || g.settings.Role != config.Gateway {
		f.fail("workers have ROLE=%s, gateways ROLE=%s", w.settings.Role, g.settings.Role)
	}
	if of, from := strings.Replace(w.server.Image, "-cuda:", ":", 1), g.server.Image; of != from {
		f.fail("workers have the image %s, gateways %s: they may not understand each other", of, from)
	}
	if one, other := secretOf(w.server, "BROKER_URL"), secretOf(g.server, "BROKER_URL"); one == "" || one != other {
		f.fail("workers have BROKER_URL from the Secret %q, gateways from %q", one, other)
	}
	if one, other := secretOf(w.server, "FLEET_SECRET"), secretOf(g.server, "FLEET_SECRET"); one == "" || one != other {
		f.fail("workers have FLEET_SECRET from the Secret %q, gateways from %q", one, other)
	}
	if w.settings.BrokerPrefix != g.settings.BrokerPrefix {
		f.fail("workers have BROKER_PREFIX=%s, gateways %s", w.settings.BrokerPrefix, g.settings.BrokerPrefix)
	}
}

// secretOf returns the Secret and the key of a variable; "": the variable is not from a Secret.
func secretOf(c corev1.Container, name string) string {
	for _, v := range c.Env {
		if v.Name == name && v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
			return v.ValueFrom.SecretKeyRef.Name + "/" + v.ValueFrom.SecretKeyRef.Key
		}
	}
	return ""
}

// neighbours must not select each other's pods.
func neighbours(f *fleet) {
	for _, pair := range [][2]*subject{{f.workers, f.gateways}, {f.gateways, f.workers}} {
		labels := pair[1].deployment.Spec.Template.Labels
		for what, selector := range map[string]map[string]string{
			"Deployment": labelsOf(pair[0].deployment.Spec.Selector), "Service": pair[0].service.Spec.Selector,
			"PodDisruptionBudget": labelsOf(pair[0].budget.Spec.Selector),
		} {
			if within(selector, labels) {
				f.fail("the %s of %s selects pods of %s, too", what, pair[0].deployment.Name, pair[1].deployment.Name)
			}
		}
	}
	if f.workers.service.Spec.ClusterIP != corev1.ClusterIPNone {
		f.fail("the Service of workers has an address: they answer no clients")
	}
}

// trigger must be the tokens that wait for workers, as any one gateway reports them.
func trigger(f *fleet) {
	spec := f.scaler.Spec
	if len(spec.Triggers) != 1 || spec.Triggers[0].Type != "prometheus" {
		f.fail("the ScaledObject has other triggers than one of Prometheus")
		return
	}
	t := spec.Triggers[0]
	if t.MetricType != autoscalingv2.AverageValueMetricType {
		f.fail("the trigger is of type %q: the threshold is for each worker", t.MetricType)
	}
	want := func(of string) string {
		return fmt.Sprintf("max(sum by (pod) (dragoman_fleet_waiting_tokens{app_kubernetes_io_instance=~%q}))", of)
	}
	own := want(f.gateways.service.Labels[instance])
	if query := t.Metadata["query"]; query != want(".*") && query != own {
		f.fail("the trigger asks %s, not %s: each gateway has the sum of all", query, own)
	}
	for _, monitor := range f.gateways.monitors {
		if !slices.Contains(monitor.Spec.TargetLabels, instance) {
			f.fail("the ServiceMonitor does not give metrics the instance that the trigger asks for")
		}
	}
	if n, err := strconv.ParseFloat(t.Metadata["threshold"], 64); err != nil || n <= 0 {
		f.fail("the trigger's threshold is %q", t.Metadata["threshold"])
	}
	if t.Metadata["ignoreNullValues"] != "false" {
		f.fail("the trigger takes no answer for an empty queue")
	}
	if spec.CooldownPeriod == nil || *spec.CooldownPeriod < 300 {
		f.fail("the last worker is given up within 5 minutes")
	}
	if spec.Fallback == nil || spec.Fallback.Behavior != "currentReplicasIfHigher" {
		f.fail("without Prometheus the ScaledObject does not keep the workers that there are")
	}
	if len(f.workers.monitors) == 0 {
		f.fail("nothing brings the trigger's metric to Prometheus: add components/prometheus")
	}
}

// requirepass matches a password on standard input, from a variable.
var requirepass = regexp.MustCompile(`<<EOF\nrequirepass "\$([A-Z_]+)"\nEOF`)

// redis must persist its data, require the password, and be behind its Service.
func redis(f *fleet) {
	if len(f.broker) == 0 {
		return
	}
	set, err := manifests.One[*appsv1.StatefulSet](f.broker)
	service, err2 := manifests.One[*corev1.Service](f.broker)
	budget, err3 := manifests.One[*policyv1.PodDisruptionBudget](f.broker)
	if err := errors.Join(err, err2, err3); err != nil {
		f.fail("%w", err)
		return
	}
	pod := set.Spec.Template.Spec
	c, err := container(pod.Containers, "redis")
	if err != nil {
		f.fail("%w", err)
		return
	}
	options := map[string]string{}
	for i := 1; i+1 < len(c.Args); i += 2 {
		options[c.Args[i]] = c.Args[i+1]
	}
	for name, want := range map[string]string{"--appendonly": "yes", "--maxmemory-policy": "noeviction"} {
		if options[name] != want {
			f.fail("Redis has %s %q, not %s: what it has accepted can be lost", name, options[name], want)
		}
	}
	if mount, ok := mountOf(c, options["--dir"]); !ok || !slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(claim corev1.PersistentVolumeClaim) bool {
		return claim.Name == mount.Name
	}) {
		f.fail("Redis writes to %q, which is on no claim", options["--dir"])
	}
	if !within(labelsOf(budget.Spec.Selector), set.Spec.Template.Labels) || budget.Spec.MaxUnavailable == nil || budget.Spec.MaxUnavailable.IntValue() != 1 ||
		set.Spec.Template.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] != "false" || set.Spec.Template.Annotations["karpenter.sh/do-not-disrupt"] != "true" {
		f.fail("Redis has no disruption budget that lets its node be drained and keeps autoscalers away")
	}
	password := ""
	if found := requirepass.FindStringSubmatch(strings.Join(c.Command, " ")); found != nil {
		password, _, _ = strings.Cut(secretOf(c, found[1]), "/")
	}
	if strings.Contains(strings.Join(append(slices.Clone(c.Command), c.Args...), " "), "$(") || slices.Contains(c.Args, "--requirepass") {
		f.fail("the password of Redis is an argument, which other processes can read")
	}
	if url, _, _ := strings.Cut(secretOf(f.workers.server, "BROKER_URL"), "/"); password == "" || password != url {
		f.fail("Redis has its password from the Secret %q, the URL is in %q", password, url)
	}
	most, err := resource.ParseQuantity(strings.TrimSuffix(options["--maxmemory"], "mb") + "Mi")
	if limit := c.Resources.Limits.Memory(); err != nil || most.IsZero() || 2*most.Value() > limit.Value() {
		f.fail("Redis may take %q, which twice does not fit into %s: it copies pages while it rewrites its file", options["--maxmemory"], limit.String())
	}
	if jobs := int64(f.gateways.settings.JobStorage); 2*jobs > most.Value() {
		f.fail("JOB_STORAGE of %d MiB leaves too little of Redis' %q for sentences", jobs>>20, options["--maxmemory"])
	}
	if !within(service.Spec.Selector, set.Spec.Template.Labels) || !within(labelsOf(set.Spec.Selector), set.Spec.Template.Labels) ||
		set.Spec.ServiceName != service.Name || len(service.Spec.Ports) != 1 || !hasPort(c, service.Spec.Ports[0].TargetPort) {
		f.fail("the Service %s does not lead to Redis", service.Name)
	}
	if c.StartupProbe == nil || c.ReadinessProbe == nil || c.LivenessProbe == nil {
		f.fail("Redis has no probes")
	}
	s := &subject{pod: pod, server: c, template: &set.Spec.Template}
	resources(s)
	security(s)
	f.faults = append(f.faults, s.faults...)
}

// connections must be exactly those that a fleet needs.
func connections(f *fleet) {
	gateway, worker := endpointOf(f.gateways.deployment.Spec.Template.Labels), endpointOf(f.workers.deployment.Spec.Template.Labels)
	other := endpointOf(map[string]string{"app.kubernetes.io/name": "other"})
	client, prometheus, names := other, other, other
	client.namespace = map[string]string{"kubernetes.io/metadata.name": "clients"}
	prometheus.namespace = map[string]string{"kubernetes.io/metadata.name": "monitoring"}
	names.namespace = map[string]string{"kubernetes.io/metadata.name": "kube-system"}
	http, grpc, dns := port{"http", 9527}, port{"grpc", 8001}, port{"dns", 53}
	tests := []connection{
		{"clients", client, "gateways", gateway, http, true},
		{"clients", client, "gateways", gateway, grpc, true},
		{"clients", client, "workers", worker, http, false},
		{"clients", client, "workers", worker, grpc, false},
		{"gateways", gateway, "workers", worker, http, false},
		{"workers", worker, "gateways", gateway, http, false},
		{"Prometheus", prometheus, "gateways", gateway, http, true},
		{"Prometheus", prometheus, "workers", worker, http, true},
		{"gateways", gateway, "DNS", names, dns, true},
		{"workers", worker, "DNS", names, dns, true},
	}
	if set, err := manifests.One[*appsv1.StatefulSet](f.broker); err == nil {
		broker, at := endpointOf(set.Spec.Template.Labels), port{"redis", 6379}
		tests = append(tests, []connection{
			{"gateways", gateway, "Redis", broker, at, true},
			{"workers", worker, "Redis", broker, at, true},
			{"other pods", other, "Redis", broker, at, false},
			{"clients", client, "Redis", broker, at, false},
			{"Prometheus", prometheus, "Redis", broker, at, false},
			{"Redis", broker, "gateways", gateway, http, false},
			{"Redis", broker, "other pods", other, http, false},
		}...)
	}
	for _, c := range tests {
		if got := allowed(f.policies, c.from, c.to, c.port); got != c.want {
			f.fail("%s reach %s at %s: %t, not %t", c.whence, c.where, c.port.name, got, c.want)
		}
	}
}

type connection struct {
	whence string
	from   endpoint
	where  string
	to     endpoint
	port   port
	want   bool
}
