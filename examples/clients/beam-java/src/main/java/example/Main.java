package example;

import com.google.api.services.bigquery.model.TableFieldSchema;
import com.google.api.services.bigquery.model.TableRow;
import com.google.api.services.bigquery.model.TableSchema;
import java.util.List;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.gcp.bigquery.BigQueryIO;
import org.apache.beam.sdk.io.gcp.bigquery.BigQueryIO.Write.CreateDisposition;
import org.apache.beam.sdk.io.gcp.bigquery.BigQueryIO.Write.Method;
import org.apache.beam.sdk.io.gcp.bigquery.RowMutationInformation;
import org.apache.beam.sdk.io.gcp.bigquery.RowMutationInformation.MutationType;
import org.apache.beam.sdk.io.gcp.bigquery.WriteResult;
import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.values.TypeDescriptors;

/** Writes CDC rows with Beam's own BigQueryIO, unchanged; see {@link EmulatorChannels} for where to. */
public final class Main {
  public interface Options extends PipelineOptions {
    @Description("The table, project:dataset.table; Beam creates it with its primary key")
    @Default.String("demo:shop.orders")
    String getTable();

    void setTable(String table);
  }

  public static void main(String[] args) {
    Options options = PipelineOptionsFactory.fromArgs(args).withValidation().as(Options.class);
    Pipeline pipeline = Pipeline.create(options);
    WriteResult result =
        pipeline
            // A change log as it arrives: not in order, and one change twice. For each order the
            // highest sequence wins; sections are compared as numbers, so 10/200 is after F/FFFFFF00.
            .apply(
                Create.of(
                    "1 placed UPSERT F/FFFF0000",
                    "2 placed UPSERT F/FFFF0100",
                    "1 cancelled UPSERT 10/200",
                    "1 shipped UPSERT F/FFFFFF00",
                    "2 placed UPSERT F/FFFF0100",
                    "3 - DELETE 10/1A00",
                    "3 placed UPSERT 10/9A0",
                    "four placed UPSERT 11/0"))
            .apply(
                BigQueryIO.<String>write()
                    .to(options.getTable())
                    .withMethod(Method.STORAGE_API_AT_LEAST_ONCE) // the default stream, which CDC needs
                    .withCreateDisposition(CreateDisposition.CREATE_IF_NEEDED)
                    .withSchema(ORDERS)
                    .withPrimaryKey(List.of("order_id"))
                    .withFormatFunction(Main::row)
                    .withRowMutationInformationFn(Main::change));
    // Rows that can't be written come out here; the rest of their bundle is written.
    result
        .getFailedStorageApiInserts()
        .apply(
            MapElements.into(TypeDescriptors.voids())
                .via(
                    failed -> {
                      System.out.println("refused: " + failed.getRow().get("order_id") + ": " + failed.getErrorMessage());
                      return null;
                    }));
    pipeline.run().waitUntilFinish();
    System.exit(0); // threads that BigQueryIO leaves would keep the program alive
  }

  private static final TableSchema ORDERS =
      new TableSchema()
          .setFields(
              List.of(
                  new TableFieldSchema().setName("order_id").setType("INTEGER").setMode("REQUIRED"),
                  new TableFieldSchema().setName("status").setType("STRING")));

  private static TableRow row(String change) {
    String[] words = change.split(" ");
    TableRow row = new TableRow().set("order_id", words[0]);
    return words[2].equals("DELETE") ? row : row.set("status", words[1]); // a DELETE needs the key alone
  }

  private static RowMutationInformation change(String change) {
    String[] words = change.split(" ");
    return RowMutationInformation.of(MutationType.valueOf(words[2]), words[3]);
  }
}
