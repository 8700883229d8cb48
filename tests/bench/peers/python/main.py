"""What Beam's Python SDK offers for the pipeline's work: its CDC write is Java's BigQueryIO.

So there are three processes: this one, which decodes; Java's, which expands the transform and
runs it; and the runner between them, Prism, Beam's portable one. Each lot of messages that is
there is a pipeline on a bounded Create. tests/bench/peers measures them together.
"""

import argparse
import base64
import ctypes
import datetime
import decimal
import json
import logging
import signal
import socket
import subprocess
import time
import urllib.request

import apache_beam as beam
from apache_beam.io.gcp.bigquery import StorageWriteToBigQuery
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.utils.timestamp import Timestamp

# DATETIME and JSON are STRING: BigQuery reads them from text, and Beam Python has neither.
COLUMNS = {
    "order_id": "INTEGER",
    "customer_id": "INTEGER",
    "status": "STRING",
    "currency": "STRING",
    "total": "NUMERIC",
    "tax": "NUMERIC",
    "placed_at": "TIMESTAMP",
    "paid_at": "DATETIME",
    "shipped_at": "DATETIME",
    "note": "STRING",
    "address": "STRING",
    "tags": "STRINGS",
    "priority": "INTEGER",
    "is_gift": "BOOLEAN",
    "weight": "FLOAT",
    "email": "STRING",
    "updated_at": "TIMESTAMP",
}


def field(name, kind):
  if kind == "STRINGS":
    return {"name": name, "type": "STRING", "mode": "REPEATED"}
  mode = "REQUIRED" if name == "order_id" else "NULLABLE"
  return {"name": name, "type": "STRING" if kind == "DATETIME" else kind, "mode": mode}


SCHEMA = {
    "fields": [
        {
            "name": "row_mutation_info",
            "type": "STRUCT",
            "mode": "REQUIRED",
            "fields": [
                {"name": "mutation_type", "type": "STRING", "mode": "REQUIRED"},
                {"name": "change_sequence_number", "type": "STRING", "mode": "REQUIRED"},
            ],
        },
        {
            "name": "record",
            "type": "STRUCT",
            "mode": "REQUIRED",
            "fields": [field(name, kind) for name, kind in COLUMNS.items()],
        },
    ]
}

EPOCH = datetime.datetime(1970, 1, 1)


def convert(kind, value):
  if kind == "NUMERIC":
    return decimal.Decimal(int.from_bytes(base64.b64decode(value), "big", signed=True)).scaleb(-2)
  if kind == "TIMESTAMP":
    return Timestamp(micros=value) if isinstance(value, int) else Timestamp.from_rfc3339(value)
  if kind == "DATETIME":
    return (EPOCH + datetime.timedelta(microseconds=value)).isoformat(timespec="microseconds")
  return value


def mutation(message):
  """The row of Debezium's message, as the transform wants it."""
  event = json.loads(message)
  deleted = event["op"] == "d"
  image = {"order_id": event["before"]["order_id"]} if deleted else event["after"]
  record = {}
  for name, kind in COLUMNS.items():
    value = image.get(name)
    record[name] = ([] if kind == "STRINGS" else None) if value is None else convert(kind, value)
  return {
      "row_mutation_info": {
          "mutation_type": "DELETE" if deleted else "UPSERT",
          "change_sequence_number": "%X" % event["source"]["lsn"],
      },
      "record": record,
  }


def pull(url):
  """What messages there are. They aren't acked: whoever measures counts rows."""
  messages = []
  while True:
    request = urllib.request.Request(url, b'{"maxMessages": 1000}', {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
      lot = json.load(response).get("receivedMessages")
    if not lot:
      return messages
    messages.extend(base64.b64decode(received["message"]["data"]) for received in lot)


def start(command, port):
  """Starts a process that ends with this one, and waits until it serves at the port."""

  def end_with_parent():  # Linux's PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)

  process = subprocess.Popen(command, preexec_fn=end_with_parent)
  while process.poll() is None:
    try:
      socket.create_connection(("localhost", port)).close()
      return
    except ConnectionRefusedError:
      time.sleep(0.02)
  raise RuntimeError(f"{command[0]} ended with status {process.returncode}")


def free_port():
  with socket.create_server(("localhost", 0)) as server:
    return server.getsockname()[1]


def main():
  parser = argparse.ArgumentParser()
  parser.add_argument("--pubsub", required=True, help="root URL of Pub/Sub's REST API")
  parser.add_argument("--subscription", required=True)
  parser.add_argument("--prism", required=True, help="Prism's program")
  parser.add_argument("java", nargs="+", help="Java's command, after --; PORT in it is replaced")
  settings = parser.parse_args()
  logging.getLogger().setLevel(logging.WARNING)
  expansion, prism = free_port(), free_port()
  start([settings.prism, f"-job_port={prism}", "-serve_http=false", "-log_kind=text"], prism)
  start([str(expansion) if word == "PORT" else word for word in settings.java], expansion)
  options = PipelineOptions([
      "--runner=PortableRunner",
      f"--job_endpoint=localhost:{prism}",
      "--environment_type=LOOPBACK",
  ])
  while True:
    messages = pull(f"{settings.pubsub}/v1/{settings.subscription}:pull")
    if not messages:
      time.sleep(0.005)
      continue
    with beam.Pipeline(options=options) as pipeline:
      (pipeline
       | beam.Create(messages)
       | beam.Map(mutation)
       | StorageWriteToBigQuery(
           "demo:shop.orders",
           schema=SCHEMA,
           create_disposition="CREATE_NEVER",
           use_at_least_once=True,
           use_cdc_writes=True,
           primary_key=["order_id"],
           expansion_service=f"localhost:{expansion}"))


if __name__ == "__main__":
  main()
