// Reads manifests from files and fails on the first that Kubernetes would not take as it is meant.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	codecs := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)
	for _, name := range os.Args[1:] {
		file, err := os.Open(name)
		if err != nil {
			fail(name, err)
		}
		documents := yaml.NewYAMLReader(bufio.NewReader(file))
		for {
			document, err := documents.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				fail(name, err)
			}
			_, kind, err := codecs.UniversalDeserializer().Decode(document, nil, nil)
			if err != nil {
				fail(name, fmt.Errorf("%w\n%s", err, document))
			}
			fmt.Println(kind.Kind)
		}
	}
}

func fail(name string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	os.Exit(1)
}
