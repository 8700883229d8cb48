package example;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Collection;
import java.util.List;

/**
 * Sends Beam's Storage Write API calls to the emulator: the one thing that no option of Beam's can.
 *
 * <p>{@code --bigQueryEndpoint} moves both of BigQueryIO's clients, but it is one address for REST
 * and for gRPC, and BigQueryIO builds its gRPC channel with TLS whatever the address begins with.
 * gRPC itself lets a program bring its own channels: this provider, named in META-INF/services,
 * comes before the usual one while the system property {@code bigquery.emulator.grpc} is set, and
 * opens each channel in plain text to the address that the property holds. Leave the property
 * out, and the same program writes to BigQuery.
 */
public final class EmulatorChannels extends ManagedChannelProvider {
  private static final String ADDRESS = System.getProperty("bigquery.emulator.grpc");

  @Override
  protected boolean isAvailable() {
    return ADDRESS != null;
  }

  @Override
  protected int priority() {
    return 10; // the highest; Netty's own has 5
  }

  @Override
  protected Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
    return List.of(InetSocketAddress.class);
  }

  @Override
  protected ManagedChannelBuilder<?> builderForAddress(String name, int port) {
    return builderForTarget(name);
  }

  @Override
  protected ManagedChannelBuilder<?> builderForTarget(String target) {
    return NettyChannelBuilder.forTarget(ADDRESS).usePlaintext();
  }
}
