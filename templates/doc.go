// Package templates holds the Dataflow Flex Template: its parameters
// (metadata.json, generated from the configuration's settings), its image
// (Dockerfile), the scripts that publish and run it, and a Terraform example. Its tests do
// what can be done without Google: they assemble the image, run the program in it as the
// launcher does, and run what it stages.
package templates
