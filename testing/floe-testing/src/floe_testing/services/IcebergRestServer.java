import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.compression.gzip.GzipCompression;
import org.eclipse.jetty.compression.server.CompressionHandler;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Iceberg's REST reference catalog over a JdbcCatalog, for tests: on 127.0.0.1 only, on a port of the system's
 * choice, which is the first line that it prints. It ends when its standard input does, so that it cannot outlive
 * the process that started it. Arguments: the catalog's name, then its properties as key=value.
 */
public final class IcebergRestServer {
  private static final Pattern NAMESPACE = Pattern.compile("^(.*/namespaces/)([^/]+)(.*)$");

  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties = new HashMap<>();
    properties.put("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.put("jdbc.schema-version", "V1");
    properties.put("jdbc.strict-mode", "true");
    for (int i = 1; i < arguments.length; i++) {
      int equals = arguments[i].indexOf('=');
      properties.put(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
    }
    Server server = new Server(new InetSocketAddress("127.0.0.1", 0));
    server.setHandler(handler(new RESTCatalogAdapter(
        CatalogUtil.buildIcebergCatalog(arguments[0], properties, new Configuration()))));
    server.start();
    System.out.println(((ServerConnector) server.getConnectors()[0]).getLocalPort());
    System.out.flush();
    waitForTheEndOfInput();
    Runtime.getRuntime().halt(0); // a test's server has nothing to say goodbye to
  }

  private static ServletContextHandler handler(RESTCatalogAdapter catalog) {
    ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    context.addServlet(new ServletHolder(new RESTCatalogServlet(catalog)), "/*");
    // PyIceberg writes the separator of namespaces as `.`, the reference servlet splits only at a literal %2E:
    // without this, a.b.c arrives as one level.
    context.addFilter(
        new FilterHolder((request, response, chain) ->
            chain.doFilter(withEncodedDots((HttpServletRequest) request), response)),
        "/*",
        EnumSet.of(DispatcherType.REQUEST));
    CompressionHandler compression = new CompressionHandler();
    compression.putCompression(new GzipCompression());
    context.insertHandler(compression);
    return context;
  }

  private static HttpServletRequest withEncodedDots(HttpServletRequest request) {
    return new HttpServletRequestWrapper(request) {
      @Override
      public String getRequestURI() {
        Matcher path = NAMESPACE.matcher(super.getRequestURI());
        return path.matches()
            ? path.group(1) + path.group(2).replace(".", "%2E") + path.group(3)
            : super.getRequestURI();
      }
    };
  }

  private static void waitForTheEndOfInput() throws IOException {
    byte[] ignored = new byte[64];
    while (System.in.read(ignored) >= 0) {}
  }
}
