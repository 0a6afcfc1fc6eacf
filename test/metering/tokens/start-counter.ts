import type { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { Log } from '../../../src/log/log.ts';
import { TokenCounter } from '../../../src/metering/tokens/token-counter.ts';

interface Started {
  counter: TokenCounter;
  /** The number of threads that the counter has started; Node reports each one a tick later. */
  threads: Worker[];
  warnings: string[];
}

export function startCounter(t: Test): Started {
  const threads: Worker[] = [];
  const warnings: string[] = [];
  const onWorker = (worker: Worker) => threads.push(worker);
  process.on('worker', onWorker);
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  const counter = new TokenCounter({ log });
  t.teardown(async () => {
    process.off('worker', onWorker);
    await counter.close();
  });
  return { counter, threads, warnings };
}
