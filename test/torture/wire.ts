import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Scope } from '../helper/scope.ts';
import { Lane } from './lane.ts';

/** Sees every piece of bytes before it goes on. `'swallow'`: it does not. */
export interface Watcher {
  /** From the gateway to the server. */
  sent(bytes: Buffer, link: Link): 'swallow' | undefined;
  /** From the server to the gateway. */
  replied(bytes: Buffer, link: Link): 'swallow' | undefined;
}

/** One connection through a wire. */
export interface Link {
  /** From now on nothing comes back on it; what is sent still arrives. */
  deafen(): void;
  /** What is sent from now on arrives in so many milliseconds at the earliest, in its order. */
  holdUp(ms: number): void;
}

/** A way to a server on loopback that can be watched, slowed, muted and cut. */
export interface Wire {
  readonly port: number;
  /** From now on nothing comes back on the connections that are open now. */
  loseReplies(): void;
  /** Ends every open connection; what was sent before still arrives. */
  cut(): void;
  /** Everything takes so much longer each way; 0: no longer. */
  delay(ms: number): void;
}

export async function startWire(scope: Scope, targetPort: number, watcher: Watcher): Promise<Wire> {
  const links = new Set<Wired>();
  let delayMs = 0;
  const server = createServer((near) => {
    const link = new Wired(near, connect(targetPort, '127.0.0.1'), watcher, () => delayMs);
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
    loseReplies() {
      for (const link of links) link.deafen();
    },
    cut() {
      for (const link of links) link.cut();
    },
    delay(ms) {
      delayMs = ms;
    },
  };
}

class Wired implements Link {
  readonly #near: Socket;
  #isDeaf = false;
  /** By performance.now(). */
  #heldUpUntil = 0;

  constructor(near: Socket, far: Socket, watcher: Watcher, delayMs: () => number) {
    this.#near = near;
    const up = new Lane(far, () => Math.max(delayMs(), this.#heldUpUntil - performance.now()));
    const down = new Lane(near, delayMs);
    near.on('data', (bytes) => {
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
