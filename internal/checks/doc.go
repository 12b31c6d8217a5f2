// Package checks is a module of its own for tests and tools whose libraries the product is not made
// of: the parsers that read what deploy/ holds as Docker and Compose would, Helm and the types of
// Kubernetes (in chart), Prometheus' query engine, the stock OpenAI client, what encodes Amazon's
// event streams, what validates openapi.yaml and what makes Go types from it; and stock clients for
// Node (in clients). Its go.mod requires the libraries, so that the product's go.mod lists what the
// product is made of and a build of it fetches nothing of theirs.
//
// The product's packages may be imported here; make test, race, vet, lint and generated run both.
package checks
