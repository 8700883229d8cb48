package peer;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Collection;
import java.util.List;

/**
 * Sends Beam's Storage Write API calls to the address in the system property
 * bigquery.emulator.grpc, in plain text, as examples/clients/beam-java does and explains.
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
