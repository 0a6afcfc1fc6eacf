import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Scope } from '../helper/scope.ts';
import { DelayQueue } from './delay-queue.ts';

/** Sees every piece of bytes before it goes on. `'swallow'`: it does not. */
export interface Watcher {
  /** From the gateway to the server. */
  sent(bytes: Buffer, link: Link): 'swallow' | undefined;
  /** From the server to the gateway. */
  replied(bytes: Buffer, link: Link): 'swallow' | undefined;
}

/** Whose a connection is: a gateway's, by its slot, or a replica's that follows the server. */
export type Whose = number | 'replica';

/** One connection through a wire. */
export interface Link {
  /** Undefined: not known yet, or somebody else's. */
  readonly whose: Whose | undefined;
  /** From now on nothing comes back on it; what is sent still arrives. */
  deafen(): void;
  /** What is sent from now on arrives in so many milliseconds at the earliest, in its order. */
  holdUp(ms: number): void;
}

/** A way to a server on loopback that can be watched, slowed, muted and cut: for some, or for all who use it. */
export interface Wire {
  readonly port: number;
  /** From now on nothing comes back on the connections that are open now. */
  loseReplies(of?: Whose): void;
  /** Ends every open connection; what was sent before still arrives. */
  cut(of?: Whose): void;
  /** Everything takes so much longer each way; 0: no longer. */
  delay(ms: number, of?: Whose): void;
}

/** `tell`: whose a connection is, by what it begins with; undefined: that cannot be seen there. */
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

/** Pieces that a connection begins with: who authenticates, or follows as a replica, does so in these. */
const BEGINNING = 8;

class Wired implements Link {
  whose: Whose | undefined;
  readonly #near: Socket;
  #pieces = 0;
  #isDeaf = false;
  /** By performance.now(). */
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
    // The server gets all that a killed gateway had written, and a gateway all that a killed server had.
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
