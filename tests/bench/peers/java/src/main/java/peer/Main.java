package peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.api.services.bigquery.model.TableFieldSchema;
import com.google.api.services.bigquery.model.TableRow;
import com.google.api.services.bigquery.model.TableSchema;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.gcp.bigquery.BigQueryIO;
import org.apache.beam.sdk.io.gcp.bigquery.BigQueryIO.Write.CreateDisposition;
import org.apache.beam.sdk.io.gcp.bigquery.BigQueryIO.Write.Method;
import org.apache.beam.sdk.io.gcp.bigquery.RowMutation;
import org.apache.beam.sdk.io.gcp.bigquery.RowMutationInformation;
import org.apache.beam.sdk.io.gcp.bigquery.RowMutationInformation.MutationType;
import org.apache.beam.sdk.io.gcp.pubsub.PubsubIO;
import org.apache.beam.sdk.io.gcp.pubsub.PubsubMessage;
import org.apache.beam.sdk.io.gcp.pubsub.PubsubOptions;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptor;

/**
 * What Beam's Java SDK offers for the pipeline's work: PubsubIO, Jackson, and BigQueryIO with
 * row mutations. It writes the CDC rows of tests/internal/orders' messages;
 * tests/bench/peers measures it beside the pipeline.
 */
public final class Main {
  public interface Options extends PipelineOptions {
    @Description("projects/P/subscriptions/S")
    String getSubscription();

    void setSubscription(String subscription);

    @Description(
        "Read by PubsubIO. Otherwise messages are pulled as they come, and each lot is a pipeline on a bounded Create")
    boolean getFromPubsub();

    void setFromPubsub(boolean fromPubsub);
  }

  public static void main(String[] args) throws Exception {
    Options options = PipelineOptionsFactory.fromArgs(args).withValidation().as(Options.class);
    if (options.getFromPubsub()) {
      Pipeline pipeline = Pipeline.create(options);
      write(
          pipeline
              .apply(PubsubIO.readMessages().fromSubscription(options.getSubscription()))
              .apply(MapElements.into(new TypeDescriptor<byte[]>() {}).via(PubsubMessage::getPayload)));
      pipeline.run().waitUntilFinish();
      return;
    }
    while (true) {
      List<byte[]> messages = pull(options);
      if (messages.isEmpty()) {
        Thread.sleep(5);
        continue;
      }
      Pipeline pipeline = Pipeline.create(options);
      write(pipeline.apply(Create.of(messages)));
      pipeline.run().waitUntilFinish();
    }
  }

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /** Pulls what there is. It isn't acked: whoever measures counts rows. */
  private static List<byte[]> pull(Options options) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    options.as(PubsubOptions.class).getPubsubRootUrl() + "/v1/" + options.getSubscription() + ":pull"))
            .POST(HttpRequest.BodyPublishers.ofString("{\"maxMessages\": 1000}"))
            .build();
    List<byte[]> messages = new ArrayList<>();
    while (true) {
      JsonNode lot =
          Decode.JSON.readTree(HTTP.send(request, HttpResponse.BodyHandlers.ofByteArray()).body()).get("receivedMessages");
      if (lot == null) {
        return messages;
      }
      for (JsonNode received : lot) {
        messages.add(received.get("message").get("data").binaryValue());
      }
    }
  }

  private static void write(PCollection<byte[]> messages) {
    messages
        .apply(ParDo.of(new Decode()))
        .setCoder(RowMutation.RowMutationCoder.of())
        .apply(
            BigQueryIO.<RowMutation>write()
                .to("demo:shop.orders")
                .withMethod(Method.STORAGE_API_AT_LEAST_ONCE) // the default stream, which CDC needs
                .withoutValidation() // which asks for the dataset
                .withCreateDisposition(CreateDisposition.CREATE_NEVER)
                .withSchema(ORDERS)
                .withPrimaryKey(List.of("order_id"))
                .withFormatFunction(RowMutation::getTableRow)
                .withRowMutationInformationFn(RowMutation::getMutationInformation));
  }

  private static TableFieldSchema column(String name, String type) {
    return new TableFieldSchema().setName(name).setType(type).setMode("NULLABLE");
  }

  private static final TableSchema ORDERS =
      new TableSchema()
          .setFields(
              List.of(
                  column("order_id", "INTEGER").setMode("REQUIRED"),
                  column("customer_id", "INTEGER"),
                  column("status", "STRING"),
                  column("currency", "STRING"),
                  column("total", "NUMERIC"),
                  column("tax", "NUMERIC"),
                  column("placed_at", "TIMESTAMP"),
                  column("paid_at", "DATETIME"),
                  column("shipped_at", "DATETIME"),
                  column("note", "STRING"),
                  column("address", "JSON"),
                  column("tags", "STRING").setMode("REPEATED"),
                  column("priority", "INTEGER"),
                  column("is_gift", "BOOLEAN"),
                  column("weight", "FLOAT"),
                  column("email", "STRING"),
                  column("updated_at", "TIMESTAMP")));

  /** Makes a row mutation of Debezium's message. */
  private static final class Decode extends DoFn<byte[], RowMutation> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @ProcessElement
    public void decode(@Element byte[] message, OutputReceiver<RowMutation> out)
        throws IOException {
      JsonNode event = JSON.readTree(message);
      boolean deleted = event.get("op").textValue().equals("d");
      TableRow row = new TableRow();
      JsonNode image = event.get(deleted ? "before" : "after");
      if (deleted) {
        row.set("order_id", image.get("order_id").longValue());
      } else {
        for (TableFieldSchema column : ORDERS.getFields()) {
          JsonNode value = image.get(column.getName());
          if (value != null && !value.isNull()) {
            row.set(column.getName(), convert(column, value));
          }
        }
      }
      out.output(
          RowMutation.of(
              row,
              RowMutationInformation.of(
                  deleted ? MutationType.DELETE : MutationType.UPSERT,
                  Long.toHexString(event.get("source").get("lsn").longValue()).toUpperCase())));
    }

    private static Object convert(TableFieldSchema column, JsonNode value) throws IOException {
      if (value.isArray()) {
        List<String> list = new ArrayList<>();
        value.forEach(element -> list.add(element.textValue()));
        return list;
      }
      switch (column.getType()) {
        case "INTEGER":
          return value.longValue();
        case "FLOAT":
          return value.doubleValue();
        case "BOOLEAN":
          return value.booleanValue();
        case "NUMERIC":
          return new BigDecimal(new BigInteger(value.binaryValue()), 2).toString();
        case "TIMESTAMP":
          return value.isTextual() ? value.textValue() : instant(value.longValue()).toString();
        case "DATETIME":
          return LocalDateTime.ofInstant(instant(value.longValue()), ZoneOffset.UTC).toString();
        default:
          return value.textValue();
      }
    }

    private static Instant instant(long micros) {
      return Instant.ofEpochSecond(
          Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1000);
    }
  }
}
