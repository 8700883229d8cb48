package example;

import com.google.api.core.ApiFuture;
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.api.gax.rpc.NotFoundException;
import com.google.api.gax.rpc.TransportChannelProvider;
import com.google.cloud.NoCredentials;
import com.google.cloud.bigquery.BigQuery;
import com.google.cloud.bigquery.BigQueryOptions;
import com.google.cloud.bigquery.Field;
import com.google.cloud.bigquery.FieldValueList;
import com.google.cloud.bigquery.PrimaryKey;
import com.google.cloud.bigquery.QueryJobConfiguration;
import com.google.cloud.bigquery.Schema;
import com.google.cloud.bigquery.StandardSQLTypeName;
import com.google.cloud.bigquery.StandardTableDefinition;
import com.google.cloud.bigquery.TableConstraints;
import com.google.cloud.bigquery.TableId;
import com.google.cloud.bigquery.TableInfo;
import com.google.cloud.bigquery.storage.v1.AppendRowsResponse;
import com.google.cloud.bigquery.storage.v1.BigQueryWriteClient;
import com.google.cloud.bigquery.storage.v1.BigQueryWriteSettings;
import com.google.cloud.bigquery.storage.v1.Exceptions.AppendSerializationError;
import com.google.cloud.bigquery.storage.v1.JsonStreamWriter;
import com.google.cloud.bigquery.storage.v1.TableFieldSchema;
import com.google.cloud.bigquery.storage.v1.TableName;
import com.google.cloud.bigquery.storage.v1.TableSchema;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * Writes CDC rows with Google's own Java clients, reads the table back, and shows what the errors
 * look like. Nothing of the clients is changed but where they connect to.
 */
public final class Main {
  // The rows' schema is the table's and CDC's two pseudo-columns, in any case.
  private static final TableSchema ROW =
      TableSchema.newBuilder()
          .addFields(column("order_id", TableFieldSchema.Type.INT64))
          .addFields(column("status", TableFieldSchema.Type.STRING))
          .addFields(column("_change_type", TableFieldSchema.Type.STRING))
          .addFields(column("_change_sequence_number", TableFieldSchema.Type.STRING))
          .build();

  public static void main(String[] args) throws Exception {
    Map<String, String> flags = Flags.parse(args);
    String project = flags.get("project");
    String dataset = flags.get("dataset");
    BigQuery bigquery =
        BigQueryOptions.newBuilder()
            .setProjectId(project)
            .setHost(flags.get("rest"))
            .setCredentials(NoCredentials.getInstance())
            .build()
            .getService();
    createOrders(bigquery, TableId.of(project, dataset, "orders"));

    // Against BigQuery itself BigQueryWriteClient.create() is all.
    TransportChannelProvider plaintext =
        BigQueryWriteSettings.defaultGrpcTransportProviderBuilder()
            .setChannelConfigurator(ManagedChannelBuilder::usePlaintext)
            .build();
    BigQueryWriteSettings settings =
        BigQueryWriteSettings.newBuilder()
            .setEndpoint(flags.get("grpc"))
            .setTransportChannelProvider(plaintext)
            .setCredentialsProvider(NoCredentialsProvider.create())
            .build();
    try (BigQueryWriteClient client = BigQueryWriteClient.create(settings)) {
      // The table's name stands for its default stream, the only one that takes CDC rows.
      try (JsonStreamWriter writer =
          JsonStreamWriter.newBuilder(TableName.of(project, dataset, "orders").toString(), ROW, client).build()) {
        writeChanges(writer);
        printOrders(bigquery, dataset);

        // Row errors: nothing of the request is stored, so leave the bad rows out and send it again.
        show("bad change type", writer, upsert(4, "placed", "11/0"), change("REPLACE", 5, "placed", "11/0"));
        show("plain row on a CDC connection", writer, new JSONObject().put("order_id", 6).put("status", "placed"));
      }
      try {
        client.getWriteStream(TableName.of(project, dataset, "absent") + "/streams/_default");
      } catch (NotFoundException e) {
        System.out.println("absent table: " + e.getStatusCode().getCode());
      }
    }
  }

  /** CDC needs a primary key, which BigQuery doesn't enforce. */
  private static void createOrders(BigQuery bigquery, TableId table) {
    bigquery.delete(table);
    bigquery.create(
        TableInfo.of(
            table,
            StandardTableDefinition.newBuilder()
                .setSchema(
                    Schema.of(
                        Field.newBuilder("order_id", StandardSQLTypeName.INT64).setMode(Field.Mode.REQUIRED).build(),
                        Field.of("status", StandardSQLTypeName.STRING)))
                .setTableConstraints(
                    TableConstraints.newBuilder()
                        .setPrimaryKey(PrimaryKey.newBuilder().setColumns(List.of("order_id")).build())
                        .build())
                .build()));
  }

  /**
   * A change log as it arrives: not in order, and one change twice. For each order the highest
   * sequence wins; sections are compared as numbers, so 10/200 is after F/FFFFFF00.
   */
  private static void writeChanges(JsonStreamWriter writer) throws Exception {
    append(
        writer,
        upsert(1, "placed", "F/FFFF0000"),
        upsert(2, "placed", "F/FFFF0100"),
        upsert(1, "cancelled", "10/200"),
        upsert(1, "shipped", "F/FFFFFF00"),
        upsert(2, "placed", "F/FFFF0100"));
    append(writer, change("DELETE", 3, null, "10/1A00"), upsert(3, "placed", "10/9A0")); // a DELETE needs the key alone
  }

  private static JSONObject upsert(long id, String status, String sequence) {
    return change("UPSERT", id, status, sequence);
  }

  private static JSONObject change(String type, long id, String status, String sequence) {
    return new JSONObject()
        .put("order_id", id)
        .put("status", status) // null leaves it out
        .put("_change_type", type)
        .put("_change_sequence_number", sequence);
  }

  /** Sends rows in one request, and waits for the answer. */
  private static void append(JsonStreamWriter writer, JSONObject... rows) throws Exception {
    ApiFuture<AppendRowsResponse> answer = writer.append(new JSONArray(List.of(rows)));
    answer.get();
  }

  private static void show(String what, JsonStreamWriter writer, JSONObject... rows) throws Exception {
    try {
      append(writer, rows);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof AppendSerializationError error)) {
        throw e;
      }
      error.getRowIndexToErrorMessage().forEach((row, text) -> System.out.printf("%s: row %d: %s%n", what, row, text));
    }
  }

  private static void printOrders(BigQuery bigquery, String dataset) throws InterruptedException {
    String sql = "SELECT order_id, status FROM " + dataset + ".orders ORDER BY order_id";
    for (FieldValueList row : bigquery.query(QueryJobConfiguration.of(sql)).iterateAll()) {
      System.out.printf("order %s: %s%n", row.get("order_id").getValue(), row.get("status").getValue());
    }
  }

  private static TableFieldSchema column(String name, TableFieldSchema.Type type) {
    return TableFieldSchema.newBuilder().setName(name).setType(type).setMode(TableFieldSchema.Mode.NULLABLE).build();
  }
}
