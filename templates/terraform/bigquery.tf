resource "google_bigquery_dataset" "shop" {
  project    = var.project
  dataset_id = var.name
  location   = var.location
}

# A table that is made here needs no create_tables in the configuration, and its columns
# none there. The primary key is what makes it one for CDC.
resource "google_bigquery_table" "orders" {
  project             = var.project
  dataset_id          = google_bigquery_dataset.shop.dataset_id
  table_id            = "orders"
  clustering          = ["order_id"]
  max_staleness       = "0-0 0 0:15:0"
  deletion_protection = true

  table_constraints {
    primary_key {
      columns = ["order_id"]
    }
  }

  schema = jsonencode([
    { name = "order_id", type = "INTEGER", mode = "REQUIRED" },
    { name = "customer_id", type = "INTEGER" },
    { name = "status", type = "STRING" },
    { name = "total", type = "NUMERIC", precision = 12, scale = 2 },
    { name = "updated_at", type = "TIMESTAMP" },
  ])
}

resource "google_bigquery_table" "customers" {
  project             = var.project
  dataset_id          = google_bigquery_dataset.shop.dataset_id
  table_id            = "customers"
  clustering          = ["customer_id"]
  max_staleness       = "0-0 0 0:15:0"
  deletion_protection = true

  table_constraints {
    primary_key {
      columns = ["customer_id"]
    }
  }

  schema = jsonencode([
    { name = "customer_id", type = "INTEGER", mode = "REQUIRED" },
    { name = "name", type = "STRING" },
    { name = "email", type = "STRING" },
  ])
}
