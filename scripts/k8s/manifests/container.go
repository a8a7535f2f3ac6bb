package manifests

import (
	"cmp"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// reference matches $(NAME), or $$ for a $.
var reference = regexp.MustCompile(`\$\$|\$\([^()]+\)`)

// Environ returns the environment with which a container starts, as NAME=value, with $(NAME) of earlier variables replaced as by
// kubelet. Variables from Secrets and other sources are left out.
func Environ(c corev1.Container) []string {
	values := map[string]string{}
	var environ []string
	for _, v := range c.Env {
		if v.ValueFrom != nil {
			continue
		}
		value := reference.ReplaceAllStringFunc(v.Value, func(found string) string {
			if found == "$$" {
				return "$"
			}
			if value, ok := values[found[2:len(found)-1]]; ok {
				return value
			}
			return found
		})
		values[v.Name] = value
		environ = append(environ, v.Name+"="+value)
	}
	return environ
}

// User returns the user and the group of a container; -1 means the image's.
func User(pod corev1.PodSpec, c corev1.Container) (uid, gid int64) {
	ofPod, own := pod.SecurityContext, c.SecurityContext
	if ofPod == nil {
		ofPod = &corev1.PodSecurityContext{}
	}
	if own == nil {
		own = &corev1.SecurityContext{}
	}
	unset := int64(-1)
	return *cmp.Or(own.RunAsUser, ofPod.RunAsUser, &unset), *cmp.Or(own.RunAsGroup, ofPod.RunAsGroup, &unset)
}
