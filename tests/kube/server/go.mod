module kubeserver

go 1.19

require (
	gopkg.in/yaml.v2 v2.4.0
	sigs.k8s.io/structured-merge-diff/v4 v4.1.2
)
