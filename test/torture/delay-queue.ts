import type { Socket } from 'node:net';

/** Delay of one direction of a connection: each piece is written `delayMs()` after it came, and all in their order. */
export class DelayQueue {
  readonly #to: Socket;
  readonly #delayMs: () => number;
  readonly #waiting: { bytes: Buffer; at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;

  constructor(to: Socket, delayMs: () => number) {
    this.#to = to;
    this.#delayMs = delayMs;
    to.setNoDelay(true);
  }

  pass(bytes: Buffer): void {
    const delayMs = this.#delayMs();
    if (delayMs === 0 && this.#waiting.length === 0) {
      this.#write(bytes);
      return;
    }
    this.#waiting.push({ bytes, at: performance.now() + delayMs });
    this.#arm();
  }

  /** Ends the connection once every piece is written. */
  end(): void {
    this.#isEnding = true;
    if (this.#waiting.length === 0) this.#to.end();
  }

  #write(bytes: Buffer): void {
    if (this.#to.writable) this.#to.write(bytes);
  }

  #arm(): void {
    const [first] = this.#waiting;
    if (!first || this.#timer) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#write(first.bytes);
        this.#waiting.shift();
        if (this.#waiting.length > 0) this.#arm();
        else if (this.#isEnding) this.#to.end();
      },
      Math.max(0, first.at - performance.now()),
    );
  }
}
