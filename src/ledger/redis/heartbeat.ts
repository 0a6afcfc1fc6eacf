import { nodesOf, type RedisClient } from './connect.ts';

const EVERY_MS = 1_000;

/**
 * Pings every connection each second, so that a connection whose replies are lost is replaced even while no call uses
 * it (SILENCE in connect.ts counts from a command). Without it, the first call on a node after a quiet time would wait
 * a second in vain and be answered 503.
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
      // A connection that is being made reports its own failure.
      if (node.status === 'ready') node.ping().catch(() => {});
    }
  }
}
