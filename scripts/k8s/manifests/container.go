package manifests

import (
	"cmp"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// reference is $(NAME), or $$ for a $.
var reference = regexp.MustCompile(`\$\$|\$\([^()]+\)`)

// Environ is the environment that a container starts with, as NAME=value, with $(NAME)
// of variables that come before replaced as kubelet does. What comes from Secrets and
// the like is left out.
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

// User is the user and the group that a container runs as; -1 is that of the image.
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
