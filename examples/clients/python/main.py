"""Writes CDC rows with Google's own Python clients, reads the table back, and shows what
the errors look like. Nothing of the clients is changed but where they connect to.

    pip install -r requirements.txt
    emulator --project demo --dataset shop      # in another terminal
    python main.py
"""

import argparse

import grpc
from google.api_core.exceptions import GoogleAPICallError, NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery
from google.cloud.bigquery.table import PrimaryKey, TableConstraints
from google.cloud.bigquery_storage_v1 import BigQueryWriteClient, types
from google.cloud.bigquery_storage_v1.services.big_query_write.transports import BigQueryWriteGrpcTransport
from google.cloud.bigquery_storage_v1.writer import AppendRowsStream
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grpc", default="127.0.0.1:9060", help="the emulator's gRPC address")
    parser.add_argument("--rest", default="http://127.0.0.1:9050", help="the emulator's REST address")
    parser.add_argument("--project", default="demo")
    parser.add_argument("--dataset", default="shop", help="its table orders is made anew")
    return parser.parse_args()


def rest_client(args):
    return bigquery.Client(args.project, credentials=AnonymousCredentials(), client_options={"api_endpoint": args.rest})


def write_client(args):
    """The write client takes its address from the channel; against BigQuery itself BigQueryWriteClient() is all."""
    return BigQueryWriteClient(transport=BigQueryWriteGrpcTransport(channel=grpc.insecure_channel(args.grpc)))


def create_orders(client, args):
    """CDC needs a primary key, which BigQuery doesn't enforce."""
    table = bigquery.Table(
        f"{args.project}.{args.dataset}.orders",
        [bigquery.SchemaField("order_id", "INTEGER", "REQUIRED"), bigquery.SchemaField("status", "STRING")],
    )
    table.table_constraints = TableConstraints(PrimaryKey(["order_id"]), None)
    client.delete_table(table, not_found_ok=True)
    client.create_table(table)


def row_message():
    """The row's message: the table's columns and CDC's two pseudo-columns.

    protoc makes it of a .proto file just as well. It is proto2: BigQuery reads it as such.
    """
    field = descriptor_pb2.FieldDescriptorProto
    message = descriptor_pb2.DescriptorProto(name="Row")
    for number, (name, kind) in enumerate(
        [
            ("order_id", field.TYPE_INT64),
            ("status", field.TYPE_STRING),
            ("_CHANGE_TYPE", field.TYPE_STRING),
            ("_CHANGE_SEQUENCE_NUMBER", field.TYPE_STRING),
        ],
        start=1,
    ):
        message.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(descriptor_pb2.FileDescriptorProto(name="row.proto", message_type=[message]))
    return message, message_factory.GetMessageClass(pool.FindMessageTypeByName("Row"))


def open_stream(client, args, table, descriptor):
    """One connection to a table's default stream; the first request carries the rows' schema."""
    template = types.AppendRowsRequest(
        write_stream=f"projects/{args.project}/datasets/{args.dataset}/tables/{table}/streams/_default",
        proto_rows=types.AppendRowsRequest.ProtoData(writer_schema=types.ProtoSchema(proto_descriptor=descriptor)),
    )
    return AppendRowsStream(client, template)


def append(stream, rows):
    """Sends rows in one request, and waits for the answer."""
    data = types.ProtoRows(serialized_rows=[row.SerializeToString() for row in rows])
    request = types.AppendRowsRequest(proto_rows=types.AppendRowsRequest.ProtoData(rows=data))
    return stream.send(request).result(timeout=30)


def main():
    args = arguments()
    rest, write = rest_client(args), write_client(args)
    create_orders(rest, args)
    descriptor, row_class = row_message()

    def row(order_id, status, change, sequence):
        # None leaves a field out: a DELETE needs the key alone.
        return row_class(order_id=order_id, status=status, _CHANGE_TYPE=change, _CHANGE_SEQUENCE_NUMBER=sequence)

    stream = open_stream(write, args, "orders", descriptor)
    # A change log as it arrives: not in order, and one change twice. For each order the
    # highest sequence wins; sections are compared as numbers, so 10/200 is after F/FFFFFF00.
    append(
        stream,
        [
            row(1, "placed", "UPSERT", "F/FFFF0000"),
            row(2, "placed", "UPSERT", "F/FFFF0100"),
            row(1, "cancelled", "UPSERT", "10/200"),
            row(1, "shipped", "UPSERT", "F/FFFFFF00"),
            row(2, "placed", "UPSERT", "F/FFFF0100"),
        ],
    )
    append(stream, [row(3, None, "DELETE", "10/1A00"), row(3, "placed", "UPSERT", "10/9A0")])
    for order in rest.query_and_wait(f"SELECT order_id, status FROM {args.dataset}.orders ORDER BY order_id"):
        print(f"order {order.order_id}: {order.status}")

    # Row errors: nothing of the request is stored, so leave the bad rows out and send it again.
    show("bad change type", stream, [row(4, "placed", "UPSERT", "11/0"), row(5, "placed", "REPLACE", "11/0")])
    show("plain row on a CDC connection", stream, [row(6, "placed", None, None)])
    stream.close()
    try:
        write.get_write_stream(name=f"projects/{args.project}/datasets/{args.dataset}/tables/absent/streams/_default")
    except NotFound as error:
        print("absent table:", type(error).__name__)


def show(what, stream, rows):
    """Prints the row errors of an append. The client keeps the response in the exception."""
    try:
        append(stream, rows)
    except GoogleAPICallError as error:
        for bad in error.response.row_errors:
            print(f"{what}: row {bad.index}: {bad.message}")


if __name__ == "__main__":
    main()
