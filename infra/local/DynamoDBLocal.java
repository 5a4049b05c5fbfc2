import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts DynamoDB Local, in memory and without telemetry, on a free port of loopback: its own main program listens on
 * every address of the machine. Like moto.py, it prints one line, "listening on URL", and ends when its standard input
 * does.
 */
final class DynamoDBLocal {
    public static void main(String[] arguments) throws Exception {
        var out = System.out;
        System.setOut(System.err); // for what it says itself
        DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(
                new String[] {"-inMemory", "-sharedDb", "-disableTelemetry"});
        var jetty = DynamoDBProxyServer.class.getDeclaredField("server");
        jetty.setAccessible(true);
        var connector = (ServerConnector) ((Server) jetty.get(local)).getConnectors()[0];
        connector.setHost("127.0.0.1");
        connector.setPort(0);
        local.start();
        out.println("listening on http://127.0.0.1:" + connector.getLocalPort());
        while (System.in.read() >= 0) {
            // the program that started this one holds it open
        }
        System.exit(0);
    }
}
