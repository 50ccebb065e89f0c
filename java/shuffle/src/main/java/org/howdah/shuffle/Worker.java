package org.howdah.shuffle;

import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One of the threads of a shuffle. What it throws ends the shuffle. */
abstract class Worker {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);
  private static final int JOIN_MS = 5000;

  private final ExceptionReporter failed;
  private final Thread thread;
  private volatile boolean stopped;

  Worker(String name, ExceptionReporter failed) {
    this.failed = failed;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  abstract void work() throws Exception;

  /** Called, by another thread, when the worker is to end: frees it from what it waits for. */
  void interrupted() {}

  final boolean isStopped() {
    return stopped || Thread.currentThread().isInterrupted();
  }

  final void start() {
    thread.start();
  }

  /** Tells it to end. */
  final void stop() {
    stopped = true;
    thread.interrupt();
    try {
      interrupted();
    } catch (RuntimeException raced) {
      // Java's connections are not made for two threads: one that is at its end just now throws.
      LOG.debug("{} could not be freed from what it waits for", thread.getName(), raced);
    }
  }

  /** Waits some seconds for its end. */
  final void join() throws InterruptedException {
    thread.join(JOIN_MS);
  }

  private void run() {
    try {
      work();
    } catch (Throwable thrown) {
      if (!stopped) {
        failed.reportException(thrown);
      }
    }
  }
}
