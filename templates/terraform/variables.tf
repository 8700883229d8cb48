variable "project" {
  description = "Project of everything that is made here."
  type        = string
}

variable "region" {
  description = "Region of the job and its bucket; the dataset has to be in it or in a multi-region around it."
  type        = string
  default     = "europe-west1"
}

variable "location" {
  description = "BigQuery's location of the dataset."
  type        = string
  default     = "EU"
}

variable "name" {
  description = "Begins the names of what is made."
  type        = string
  default     = "shop"
}

variable "template" {
  description = "What templates/publish printed: gs://BUCKET/templates/beamcdc-TAG.json."
  type        = string
}

variable "publishers" {
  description = "Who publishes the changes, such as serviceAccount:debezium@PROJECT.iam.gserviceaccount.com."
  type        = list(string)
  default     = []
}

variable "notification_channels" {
  description = "Cloud Monitoring's channels that alerts go to."
  type        = list(string)
  default     = []
}
