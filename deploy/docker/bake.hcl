# docker buildx bake -f deploy/docker/bake.hcl: the image for both architectures, from the root of the clone.
variable "TAG" {
  default = "svc:latest"
}

group "default" {
  targets = ["svc"]
}

target "svc" {
  context    = "."
  dockerfile = "deploy/docker/Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  tags       = [TAG]
}
