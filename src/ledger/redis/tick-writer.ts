import type { Duplex } from 'node:stream';
import type { Cluster, Redis } from 'ioredis';
import { nodesOf } from './connect.ts';

/**
 * One write to Redis for all commands of a tick, and the moment after it.
 *
 * A command written alone costs a system call; batching them was worth a fifth of the gateway's CPU. But a settle that
 * was left to a later tick than its answer's end was lost when the gateway was killed in between (1–5 of 6,000 calls).
 * So the streams are corked at the first command of a tick, uncorked in its check phase, and only then may the answers
 * that wait for it end: their bytes follow the settle's into the kernel.
 */
export class TickWriter {
  readonly #client: Redis | Cluster;
  #corked: Duplex[] = [];
  #writes: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  #open = false;

  constructor(client: Redis | Cluster) {
    this.#client = client;
  }

  /** Call right before issuing a command. */
  open(): void {
    if (this.#open) return;
    this.#open = true;
    for (const node of nodesOf(this.#client)) {
      const stream = node.stream as Duplex | undefined;
      if (!stream?.writable) continue;
      stream.cork();
      this.#corked.push(stream);
    }
    setImmediate(() => this.#flush());
  }

  /** Calls back at the end of the tick, right before what was issued in it is written; for commands that are gathered. */
  beforeWrite(write: () => void): void {
    this.open();
    this.#writes.push(write);
  }

  /** Calls back once every command issued until now is written, or its connection is gone. */
  afterWrite(callback: () => void): void {
    this.open();
    this.#waiting.push(callback);
  }

  #flush(): void {
    const streams = this.#corked;
    const writes = this.#writes;
    const waiting = this.#waiting;
    this.#corked = [];
    this.#writes = [];
    this.#waiting = [];
    this.#open = false;
    for (const write of writes) write();
    for (const stream of streams) stream.uncork();
    if (waiting.length === 0) return;
    const behind = streams.filter((stream) => stream.writableLength > 0 && !stream.destroyed);
    if (behind.length === 0) {
      for (const callback of waiting) callback();
      return;
    }
    // The kernel's buffer is full: the rest of the write is under way.
    let open = behind.length;
    const written = () => {
      if (--open === 0) for (const callback of waiting) callback();
    };
    for (const stream of behind) {
      // Not its 'drain', which comes only where more was written than the stream's own buffer takes.
      if (stream.writableEnded) stream.once('close', written);
      else stream.write('', written);
    }
  }
}
