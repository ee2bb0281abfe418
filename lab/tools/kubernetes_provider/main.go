// Pulumi's Kubernetes provider, started the way that its own main package starts it. That package cannot be built from
// the module: the files that it embeds are generated at release. The lab copies their sources here before it builds.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

var (
	//go:embed schema.json
	packageSchema []byte

	//go:embed terraform-mapping.json
	terraformNames []byte

	// version is set by the linker.
	version string
)

func main() {
	provider.Serve("kubernetes", version, packageSchema, terraformNames)
}
