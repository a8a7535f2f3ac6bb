// Package manifests reads Kubernetes manifests as strictly as an API server that refuses unknown fields: into the types of the
// real API, from a file or from the output of `kubectl kustomize` for a folder.
package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Set has the objects of some manifests, in order. Nothing is defaulted: a field that no manifest sets is zero.
type Set []runtime.Object

// ReadFile reads a file of one or more YAML documents.
func ReadFile(path string) (Set, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set, err := Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// Build returns the output of `kubectl kustomize dir`.
func Build(dir string) (Set, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", dir, err)
	}
	raw, err := built.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", dir, err)
	}
	set, err := Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", dir, err)
	}
	return set, nil
}

// Decode reads YAML documents. An unsupported kind, an unknown or repeated field and a value of the wrong type are errors, which
// name the document, from 1 on.
func Decode(raw []byte) (Set, error) {
	scheme, err := knownKinds()
	if err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	var set Set
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		set = append(set, object)
	}
}

// knownKinds returns the API groups of the manifests.
func knownKinds() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, monitoringv1.AddToScheme, kedav1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// All returns the objects of a type, such as *appsv1.Deployment.
func All[T runtime.Object](s Set) []T {
	var found []T
	for _, object := range s {
		if o, ok := object.(T); ok {
			found = append(found, o)
		}
	}
	return found
}

// One returns the only object of a type. It fails if there is none, or several.
func One[T runtime.Object](s Set) (T, error) {
	found := All[T](s)
	if len(found) != 1 {
		var none T
		return none, fmt.Errorf("there are %d objects of type %T, not 1", len(found), none)
	}
	return found[0], nil
}

// Copy returns a deep copy.
func (s Set) Copy() Set {
	copied := make(Set, len(s))
	for i, object := range s {
		copied[i] = object.DeepCopyObject()
	}
	return copied
}
