package manifests_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/manifests"
)

const service = `
apiVersion: v1
kind: Service
metadata:
  name: one
spec:
  ports:
    - port: 80
`

func TestDecode(t *testing.T) {
	set, err := manifests.Decode([]byte("# About the file.\n" + service + "---\n" + service + "---\napiVersion: apps/v1\nkind: Deployment\n"))
	require.NoError(t, err)
	assert.Len(t, set, 3)
	services := manifests.All[*corev1.Service](set)
	require.Len(t, services, 2)
	assert.EqualValues(t, 80, services[0].Spec.Ports[0].Port)
	_, err = manifests.One[*appsv1.Deployment](set)
	assert.NoError(t, err)
	_, err = manifests.One[*corev1.Service](set)
	assert.ErrorContains(t, err, "2 objects of type *v1.Service")
	_, err = manifests.One[*corev1.ConfigMap](set)
	assert.ErrorContains(t, err, "0 objects of type *v1.ConfigMap")

	copied := manifests.All[*corev1.Service](set.Copy())
	copied[0].Spec.Ports[0].Port = 81
	assert.EqualValues(t, 80, services[0].Spec.Ports[0].Port)
}

func TestDecodeRefuses(t *testing.T) {
	for name, test := range map[string]struct{ document, want string }{
		"unknown field":  {service + "  selecter: {}\n", `unknown field "spec.selecter"`},
		"deep":           {service + "      targetport: http\n", `unknown field "spec.ports[0].targetport"`},
		"repeated field": {service + "      port: 81\n", `"port" already set`},
		"wrong case":     {"apiVersion: v1\nKind: Service\n", "Kind"},
		"wrong type":     {service + "      targetPort: [1]\n", "cannot unmarshal"},
		"wrong kind":     {"apiVersion: v1\nkind: Servise\n", `no kind "Servise"`},
		"wrong version":  {"apiVersion: autoscaling/v2beta2\nkind: HorizontalPodAutoscaler\n", "v2beta2"},
		"no kind":        {"spec: {}\n", "Kind"},
		"second":         {service + "---\nkind: [", "document 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifests.Decode([]byte(test.document))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestFolders(t *testing.T) {
	_, err := manifests.ReadFile(filepath.Join(t.TempDir(), "absent.yaml"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	dir := t.TempDir()
	_, err = manifests.Build(dir)
	assert.ErrorContains(t, err, "kustomization")

	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	write("service.yaml", service)
	write("kustomization.yaml", "resources: [service.yaml]\nnamePrefix: number-\n")
	set, err := manifests.Build(dir)
	require.NoError(t, err)
	built, err := manifests.One[*corev1.Service](set)
	require.NoError(t, err)
	assert.Equal(t, "number-one", built.Name)

	write("service.yaml", service+"  selecter: {}\n")
	_, err = manifests.Build(dir)
	assert.ErrorContains(t, err, `unknown field "spec.selecter"`)
	_, err = manifests.ReadFile(filepath.Join(dir, "service.yaml"))
	assert.ErrorContains(t, err, `service.yaml: document 1: `)
}

func TestEnviron(t *testing.T) {
	secret := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{}}
	got := manifests.Environ(corev1.Container{Env: []corev1.EnvVar{
		{Name: "LATER", Value: "$(NAME)"},
		{Name: "NAME", Value: "a"},
		{Name: "SECRET", ValueFrom: secret},
		{Name: "BOTH", Value: "/$(NAME)@$(NAME)/$(LATER)"},
		{Name: "UNKNOWN", Value: "$(SECRET) $(NONE) $NAME $() $(NA"},
		{Name: "ESCAPED", Value: "$$(NAME) $$$(NAME)"},
		{Name: "NAME", Value: "$(NAME)b"},
		{Name: "EMPTY"},
	}})
	assert.Equal(t, []string{
		"LATER=$(NAME)", "NAME=a", "BOTH=/a@a/$(NAME)", "UNKNOWN=$(SECRET) $(NONE) $NAME $() $(NA",
		"ESCAPED=$(NAME) $a", "NAME=ab", "EMPTY=",
	}, got)
}

func TestUser(t *testing.T) {
	id := func(n int64) *int64 { return &n }
	for name, test := range map[string]struct {
		pod       *corev1.PodSecurityContext
		container *corev1.SecurityContext
		uid, gid  int64
	}{
		"of the image":     {nil, nil, -1, -1},
		"of the pod":       {&corev1.PodSecurityContext{RunAsUser: id(5), RunAsGroup: id(6)}, &corev1.SecurityContext{}, 5, 6},
		"of the container": {&corev1.PodSecurityContext{RunAsUser: id(5), RunAsGroup: id(6)}, &corev1.SecurityContext{RunAsUser: id(0)}, 0, 6},
	} {
		t.Run(name, func(t *testing.T) {
			uid, gid := manifests.User(corev1.PodSpec{SecurityContext: test.pod}, corev1.Container{SecurityContext: test.container})
			assert.Equal(t, [2]int64{test.uid, test.gid}, [2]int64{uid, gid})
		})
	}
}
