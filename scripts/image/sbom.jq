# Adds what Go's tools do not see to a CycloneDX document of the Go modules, and
# corrects what the detector of licences gets wrong.

def mit: [{license: {id: "MIT"}}];
def apache: [{license: {id: "Apache-2.0"}}];

# The version of Swagger UI that a version of github.com/swaggest/swgui contains: see its README.
def swagger_ui: {"v1.8.5": "5.29.1"}[.] // error("which Swagger UI is in swgui \(.)? Add it to sbom.jq");

def added: [
  {type: "library", name: "onnxruntime", version: $onnxruntime, purl: "pkg:github/microsoft/onnxruntime@v\($onnxruntime)",
    description: "Shared library that runs the model's graphs", licenses: mit, copyright: "Microsoft Corporation", sha256: $library},
  {type: "machine-learning-model", name: "dragoman-bundled", version: $model[:12],
    description: "Small M2M100 model for Chinese, English, French, German and Japanese, embedded in the binary and trained on sentences of Tatoeba",
    licenses: [{license: {name: "CC BY 2.0 FR", url: "https://creativecommons.org/licenses/by/2.0/fr/"}}],
    copyright: "Tatoeba and its contributors", sha256: $model},
  {type: "data", name: "lingua-go-ngrams", version: "1.4.0", purl: "pkg:golang/github.com/pemistahl/lingua-go@v1.4.0",
    description: "Table of n-grams for language detection, derived from the models of lingua-go, embedded in the binary",
    licenses: apache, copyright: "Peter M. Stahl", sha256: $ngrams},
  {type: "data", name: "moses-lists", version: "0.0.53", purl: "pkg:pypi/sacremoses@0.0.53",
    description: "Words that a dot belongs to, of the Moses decoder, and classes of characters, as sacremoses has them, embedded in the binary",
    licenses: [{license: {id: "LGPL-2.1-only"}}], copyright: "The Moses decoder's authors", sha256: $moses},
  (.components[] | select(.name == "github.com/swaggest/swgui") | .version | swagger_ui as $v
    | {type: "library", name: "swagger-ui", version: $v, purl: "pkg:npm/swagger-ui-dist@\($v)",
      description: "Page at /docs, embedded in the binary by github.com/swaggest/swgui", licenses: apache, copyright: "SmartBear Software Inc."})
] | map(."bom-ref" = "dragoman:\(.name)@\(.version)"
  | if .sha256 then .hashes = [{alg: "SHA-256", content: .sha256}] | del(.sha256) else . end);

.metadata.component."bom-ref" as $main
| added as $added
| .metadata.component.version = $version
| .metadata.timestamp = ($epoch | todate)
| .components |= map(if .name == "std" or (.name | startswith("golang.org/x/")) then .licenses = [{license: {id: "BSD-3-Clause"}}] else . end)
| (.components[] | select(.licenses == null) | error("no licence was found for \(.name): look for it, and add it to sbom.jq")) // .
| .components += $added
| (.dependencies[] | select(.ref == $main) | .dependsOn) += [$added[]."bom-ref"]
