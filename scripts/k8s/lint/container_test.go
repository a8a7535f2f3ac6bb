package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"dragoman/app/config"
	"dragoman/scripts/k8s/manifests"
)

// commit matches a revision that never changes.
var commit = regexp.MustCompile("^[0-9a-f]{40}$")

// images must be the same in all containers, and a version that never changes.
func images(s *subject) {
	for _, p := range s.pulls {
		if p.Image != s.server.Image {
			s.fail("the containers have the images %s and %s: the export is for one version", p.Image, s.server.Image)
		}
	}
	for _, c := range s.containers() {
		_, tag, tagged := strings.Cut(c.Image, ":")
		if !tagged || tag == "" || strings.HasPrefix(tag, "latest") {
			s.fail("image %q has no version", c.Image)
		}
		if len(c.Command) > 0 {
			s.fail("container %s has a command: the image's entrypoint is the program", c.Name)
		}
	}
	arguments(s)
}

// arguments must be subcommands. pull fetches the only model, or each init container pulls another model into the repository.
func arguments(s *subject) {
	check := func(c corev1.Container, want ...string) {
		if !slices.Equal(c.Args, want) {
			s.fail("container %s has the arguments %q, not %q", c.Name, c.Args, want)
		}
	}
	check(s.server, "serve")
	if s.settings.Role == config.Gateway {
		if len(s.pulls) > 0 {
			s.fail("gateways have init containers: they need no model")
		}
		return
	}
	if len(s.settings.Repositories) == 0 {
		if len(s.pulls) != 1 {
			s.fail("there are %d init containers for one model", len(s.pulls))
		}
		for _, p := range s.pulls {
			check(p.Container, "pull")
		}
		return
	}
	names := map[string]bool{}
	for _, p := range s.pulls {
		model, name := "MODEL", "NAME"
		if len(p.Args) == 6 {
			model, name = p.Args[1], p.Args[5]
		}
		check(p.Container, "pull", model, "--repository", s.models(), "--name", name)
		if names[name] {
			s.fail("two init containers pull %s", name)
		}
		names[name] = true
	}
}

// resources must have equal limits and requests, so that the pod is Guaranteed, and the init container must not enlarge the pod.
func resources(s *subject) {
	for _, c := range s.containers() {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			if request.IsZero() || request.Cmp(limit) != 0 {
				s.fail("container %s requests %s of %s, its limit is %s", c.Name, request.String(), name, limit.String())
			}
		}
		if !maps.EqualFunc(c.Resources.Requests, c.Resources.Limits, resourceEqual) {
			s.fail("container %s has other requests than limits", c.Name)
		}
	}
	for _, p := range s.pulls {
		for name, amount := range p.Resources.Requests {
			if of := s.server.Resources.Requests[name]; amount.Cmp(of) > 0 {
				s.fail("the init container %s requests %s of %s, more than the service's %s", p.Name, amount.String(), name, of.String())
			}
		}
	}
}

// environment must have only variables that the program knows: a misspelt one has no effect and no message.
func environment(s *subject) {
	known := map[string]bool{
		"NVIDIA_VISIBLE_DEVICES": true, // for NVIDIA's container runtime
	}
	for _, v := range config.Variables() {
		known[v.Name] = true
	}
	for _, c := range s.containers() {
		for i, v := range c.Env {
			if !known[v.Name] {
				s.fail("container %s sets %s, which the service does not know", c.Name, v.Name)
			}
			if slices.ContainsFunc(c.Env[:i], func(before corev1.EnvVar) bool { return before.Name == v.Name }) {
				s.fail("container %s sets %s twice", c.Name, v.Name)
			}
		}
	}
	if s.settings.Role == config.Gateway {
		if s.settings.Weights != "" || len(s.settings.Repositories) > 0 {
			s.fail("gateways name models: they have those of workers")
		}
		return
	}
	of := func(c config.Config) [5]string {
		return [5]string{c.Weights, c.Revision, c.SaveWeights, string(c.Precision), string(c.Device)}
	}
	many := len(s.settings.Repositories) > 0
	if !many && !commit.MatchString(s.settings.Revision) {
		s.fail("MODEL_REVISION=%q is no commit: pods that start later may serve another model", s.settings.Revision)
	}
	for _, p := range s.pulls {
		if many {
			p.settings.Revision = "" // each model has its own
		}
		if prepared, served := of(p.settings), of(s.settings); prepared != served {
			s.fail("the init container %s prepares %q, the service serves %q", p.Name, prepared, served)
		}
	}
	if many == (s.settings.Weights != "") || many == (s.settings.SaveWeights != "") || strings.Contains(s.models(), "$") {
		s.fail("MODEL_WEIGHTS=%q and MODEL_REPOSITORY=%q are in %q: use either", s.settings.Weights, s.settings.Repositories, s.models())
	}
	if !s.settings.Offline {
		s.fail("the service may use the network for weights: its folder is read-only, set HF_HUB_OFFLINE")
	}
}

// volumes must exist, be used, and cover the folders that the program writes.
func volumes(s *subject) {
	used := map[string]bool{}
	for _, c := range s.containers() {
		for _, mount := range c.VolumeMounts {
			used[mount.Name] = true
			if !slices.ContainsFunc(s.pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
				s.fail("container %s mounts %q, which is no volume", c.Name, mount.Name)
			}
		}
	}
	for _, v := range s.pod.Volumes {
		if !used[v.Name] {
			s.fail("nothing mounts the volume %q", v.Name)
		}
	}
	// The program writes to the models' folder. For a hub's repository that it may reject, it writes config.json to the folder
	// for temporary files.
	read, found := mountOf(s.server, s.models())
	for _, p := range s.pulls {
		written, ok := mountOf(p.Container, s.models())
		if !ok || written.ReadOnly {
			s.fail("the init container %s cannot write into %s", p.Name, s.models())
		}
		if tmp, ok := mountOf(p.Container, "/tmp"); !ok || tmp.ReadOnly {
			s.fail("the init container %s cannot write into /tmp", p.Name)
		}
		if !found || read.Name != written.Name || read.MountPath != written.MountPath {
			s.fail("the service does not find what the init container %s wrote: %q at %q, not %q at %q",
				p.Name, read.Name, read.MountPath, written.Name, written.MountPath)
		}
	}
	isGateway := s.settings.Role == config.Gateway
	if tmp, ok := mountOf(s.server, "/tmp"); isGateway && (!ok || tmp.ReadOnly) {
		s.fail("a gateway cannot write tokenizers' files into /tmp")
	}
	kept := files(s)
	for _, mount := range s.server.VolumeMounts {
		if !mount.ReadOnly && !(isGateway && mount.MountPath == "/tmp") && !kept[mount.Name] {
			s.fail("the service can write into %s, which it has no need to", mount.MountPath)
		}
	}
}

// files checks the volumes of jobs, glossaries and translation memories: one pod at a time may have them, unless they are in Redis or off.
func files(s *subject) map[string]bool {
	kept := map[string]bool{}
	if s.settings.Role != config.All {
		return kept
	}
	for name, path := range map[string]string{"JOB_FILE": s.settings.JobFile, "GLOSSARY_FILE": s.settings.GlossaryFile, "MEMORY_FILE": s.settings.MemoryFile} {
		if path == config.JobsOff {
			continue
		}
		mount, ok := mountOf(s.server, path)
		if !ok || mount.ReadOnly {
			s.fail("%s=%q is on no volume that the service can write: mount one, or set it to off", name, path)
		}
		if s.scaler.Spec.MaxReplicas > 1 || s.deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
			s.fail("%s=%q is one process's, and there may be several pods", name, path)
		}
		kept[mount.Name] = true
	}
	return kept
}

// mountOf returns the mount that contains a path.
func mountOf(c corev1.Container, path string) (corev1.VolumeMount, bool) {
	i := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/")
	})
	if i < 0 {
		return corev1.VolumeMount{}, false
	}
	return c.VolumeMounts[i], true
}

// security must meet the Pod Security Standard "restricted", and more. One exception is allowed: a folder of the node, with root
// without capabilities to fill it.
func security(s *subject) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		s.fail("security: %w", err)
		return
	}
	pod := s.pod.DeepCopy()
	for i := range pod.Volumes {
		if pod.Volumes[i].HostPath == nil {
			continue
		}
		pod.Volumes[i].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		for _, c := range pod.InitContainers {
			if own := c.SecurityContext; own != nil && is(own.RunAsNonRoot, false) {
				own.RunAsNonRoot, own.RunAsUser = nil, nil
			}
		}
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &s.template.ObjectMeta, pod))
	if !result.Allowed {
		s.fail("the pod is not as restricted as the Pod Security Standard: %s", result.ForbiddenDetail())
	}
	if pod.SecurityContext == nil || pod.SecurityContext.FSGroup == nil {
		s.fail("the pod cannot write into its volumes")
	}
	if !is(s.pod.AutomountServiceAccountToken, false) {
		s.fail("the pod has a token for the API server")
	}
	if !is(s.pod.EnableServiceLinks, false) {
		s.fail("a Service called app would set APP_PORT to its address")
	}
	for _, c := range s.containers() {
		if own := c.SecurityContext; own == nil || !is(own.ReadOnlyRootFilesystem, true) {
			s.fail("container %s may write into its root", c.Name)
		}
		if uid, _ := manifests.User(s.pod, c); uid < 0 {
			s.fail("container %s runs as the image's user", c.Name)
		}
	}
}

// is reports whether a switch is set to a value.
func is(p *bool, value bool) bool { return p != nil && *p == value }
