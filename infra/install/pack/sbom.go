package main

import (
	"bytes"
	"fmt"

	"github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials names the version and its parts. It has neither a time nor a serial number, which would differ each
// time.
func billOfMaterials(linked []module, version string) ([]byte, error) {
	herald := component(cyclonedx.ComponentTypeApplication, module{"github.com/herald-webhooks/herald", "v" + version})
	var components []cyclonedx.Component
	var refs []string
	for _, m := range linked {
		components = append(components, component(cyclonedx.ComponentTypeLibrary, m))
		refs = append(refs, purl(m))
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &herald}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: herald.BOMRef, Dependencies: &refs}}
	var b bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return b.Bytes(), nil
}

func component(kind cyclonedx.ComponentType, m module) cyclonedx.Component {
	return cyclonedx.Component{Type: kind, BOMRef: purl(m), Name: m.path, Version: m.version, PackageURL: purl(m)}
}

// purl is a module's package URL (package-url/purl-spec, golang).
func purl(m module) string { return "pkg:golang/" + m.path + "@" + m.version }
