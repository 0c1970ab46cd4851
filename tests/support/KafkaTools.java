import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's command line tools one after the other in one process, since each start of a Java
 * machine costs seconds. Used by kafka_tools.py.
 *
 * <p>A request is one line: the main class, what the tool finds on standard input, and the
 * arguments, each in base64, parted by spaces. The answer is one line: the exit code, standard
 * output and standard error. The process ends when its standard input does.
 */
public class KafkaTools {
  private static final long SECOND_MS = 1_000;

  /** Unwinds the thread of a tool that has called exit. */
  private static class Exited extends Error {}

  /** Where the streams of the present tool lead; loggers hold on to what was there at first. */
  private static class Switch extends OutputStream {
    private ByteArrayOutputStream now = new ByteArrayOutputStream();

    @Override
    public synchronized void write(int b) {
      now.write(b);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      now.write(bytes, offset, length);
    }

    synchronized byte[] take() {
      byte[] written = now.toByteArray();
      now = new ByteArrayOutputStream();
      return written;
    }
  }

  private static final Switch OUT = new Switch();
  private static final Switch ERR = new Switch();
  private static final List<Runnable> HOOKS = new ArrayList<>();
  private static String answer;

  public static void main(String[] none) throws Exception {
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
    System.setOut(new PrintStream(OUT, true, charset("stdout.encoding")));
    System.setErr(new PrintStream(ERR, true, charset("stderr.encoding")));
    Exit.setExitProcedure(KafkaTools::exit);
    Exit.setHaltProcedure(KafkaTools::exit);
    Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      answers.println(run(line.split(" ", -1)));
    }
    Runtime.getRuntime().halt(0);
  }

  /** The charset that the stream had by itself. */
  private static Charset charset(String property) {
    String name = System.getProperty(property, System.getProperty("sun." + property));
    return name == null ? Charset.defaultCharset() : Charset.forName(name);
  }

  private static String run(String[] words) throws Exception {
    String tool = text(words[0]);
    String[] arguments = new String[words.length - 2];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = text(words[i + 2]);
    }
    System.setIn(new ByteArrayInputStream(Base64.getDecoder().decode(words[1])));
    OUT.take();
    ERR.take();
    HOOKS.clear();
    answer = null;
    Thread thread = new Thread(() -> call(tool, arguments), "main");
    thread.setDaemon(true);
    thread.start();
    while (answer() == null) {
      thread.join(SECOND_MS / 100);
    }
    thread.join(5 * SECOND_MS);
    return answer();
  }

  private static String text(String word) {
    return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
  }

  private static void call(String tool, String[] arguments) {
    int code = 0;
    try {
      Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) arguments);
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof Exited) {
        return;
      }
      code = 1;
      complain(thrown.getCause());
    } catch (ReflectiveOperationException notFound) {
      code = 1;
      complain(notFound);
    }
    end(code);
  }

  /** As the Java machine tells of what a main method throws. */
  private static void complain(Throwable thrown) {
    System.err.print("Exception in thread \"main\" ");
    thrown.printStackTrace();
  }

  private static void exit(int code, String message) {
    if (answer() == null) {
      end(code);
    }
    throw new Exited();
  }

  private static void end(int code) {
    for (Runnable hook : List.copyOf(HOOKS)) {
      Thread thread = new Thread(hook);
      thread.setDaemon(true);
      thread.start();
      try {
        thread.join(5 * SECOND_MS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    Base64.Encoder encoder = Base64.getEncoder();
    answer(code + " " + encoder.encodeToString(OUT.take()) + " "
        + encoder.encodeToString(ERR.take()));
  }

  private static synchronized String answer() {
    return answer;
  }

  private static synchronized void answer(String said) {
    if (answer == null) {
      answer = said;
    }
  }
}
