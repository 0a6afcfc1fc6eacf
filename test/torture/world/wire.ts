import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Scope } from '../../helper/start/scope.ts';

/** Sees all bytes before they are passed on; 'swallow' drops them. */
export interface Watcher {
  /** Called with bytes from the gateway to the server. */
  sent(bytes: Buffer, link: Link): 'swallow' | undefined;
  /** Called with bytes from the server to the gateway. */
  replied(bytes: Buffer, link: Link): 'swallow' | undefined;
}

/** Owner of a connection: a gateway, by its slot, or a replica that follows the server. */
export type Whose = number | 'replica';

/** One connection through a wire. */
export interface Link {
  /** Owner of the connection; undefined while unknown, and for anybody else. */
  readonly whose: Whose | undefined;
  /** Drops all replies from now on; what the gateway sends still arrives. */
  deafen(): void;
  /** Delays what the gateway sends from now on until `ms` have passed, keeping its order. */
  holdUp(ms: number): void;
}

/** Proxy to a server on loopback. Its connections can be watched, slowed, muted and cut, for one owner or all. */
export interface Wire {
  readonly port: number;
  /** Drops all further replies on the open connections. */
  loseReplies(of?: Whose): void;
  /** Ends every open connection. Bytes sent before still arrive. */
  cut(of?: Whose): void;
  /** Delays all bytes by `ms` in each direction; 0 ends the delay. */
  delay(ms: number, of?: Whose): void;
}

/** Starts a wire. `tell` returns the owner of a connection by its first bytes; undefined if they don't show it. */
export async function startWire(
  scope: Scope,
  targetPort: number,
  watcher: Watcher,
  tell: (bytes: Buffer) => Whose | undefined = () => undefined,
): Promise<Wire> {
  const links = new Set<Wired>();
  const delays = new Map<Whose | undefined, number>();
  const delayOf = (whose: Whose | undefined) => delays.get(whose) ?? delays.get(undefined) ?? 0;
  const of = (whose: Whose | undefined) =>
    [...links].filter((link) => whose === undefined || link.whose === whose);
  const server = createServer((near) => {
    const link = new Wired(near, connect(targetPort, '127.0.0.1'), { watcher, tell, delayOf });
    links.add(link);
    near.on('close', () => links.delete(link));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.teardown(() => {
    server.close();
    for (const link of links) link.cut();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    loseReplies(whose) {
      for (const link of of(whose)) link.deafen();
    },
    cut(whose) {
      for (const link of of(whose)) link.cut();
    },
    delay(ms, whose) {
      delays.set(whose, ms);
    },
  };
}

/** Number of first pieces of a connection that can show its owner, by authentication or replication. */
const BEGINNING = 8;

class Wired implements Link {
  whose: Whose | undefined;
  readonly #near: Socket;
  #pieces = 0;
  #isDeaf = false;
  /** Time by performance.now() before which nothing that the gateway sends is passed on. */
  #heldUpUntil = 0;

  constructor(
    near: Socket,
    far: Socket,
    on: {
      readonly watcher: Watcher;
      readonly tell: (bytes: Buffer) => Whose | undefined;
      readonly delayOf: (whose: Whose | undefined) => number;
    },
  ) {
    const { watcher, tell, delayOf } = on;
    const delayMs = () => delayOf(this.whose);
    this.#near = near;
    const up = new DelayQueue(far, () => Math.max(delayMs(), this.#heldUpUntil - performance.now()));
    const down = new DelayQueue(near, delayMs);
    near.on('data', (bytes) => {
      if (this.whose === undefined && this.#pieces++ < BEGINNING) this.whose = tell(bytes);
      if (watcher.sent(bytes, this) !== 'swallow') up.pass(bytes);
    });
    far.on('data', (bytes) => {
      if (watcher.replied(bytes, this) !== 'swallow' && !this.#isDeaf) down.pass(bytes);
    });
    // Ended, not destroyed: the server gets everything that a killed gateway wrote, and the gateway everything that a
    // killed server wrote.
    near.on('error', () => {}).on('close', () => up.end());
    far.on('error', () => {}).on('close', () => (this.#isDeaf ? near.destroy() : down.end()));
  }

  deafen(): void {
    this.#isDeaf = true;
  }

  holdUp(ms: number): void {
    this.#heldUpUntil = performance.now() + ms;
  }

  cut(): void {
    this.#near.destroy();
  }
}

/** Delay of one direction of a connection: writes each piece `delayMs()` after its arrival, in order. */
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
