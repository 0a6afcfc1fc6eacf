import { nodesOf, type RedisClient } from './connect.ts';

const EVERY_MS = 1_000;

/**
 * Pings every connection each second, so that one whose replies are lost is replaced also while no call uses it (SILENCE in
 * connect.ts counts from a command). Without it, the first call on a node after a quiet time waits for a second in vain, and is 503.
 */
export class Heartbeat {
  readonly #clients: readonly RedisClient[];
  #timer: NodeJS.Timeout | undefined;

  constructor(clients: readonly RedisClient[]) {
    this.#clients = clients;
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    for (const node of this.#clients.flatMap(nodesOf)) {
      // A connection that is being made says by itself when it fails.
      if (node.status === 'ready') node.ping().catch(() => {});
    }
  }
}
