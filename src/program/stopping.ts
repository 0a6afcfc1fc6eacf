import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OpenCalls } from '../gateway/response/open-calls.ts';

/** Time for requests in flight to finish after a signal (specification section 1, "Stop"). */
const FINISH_WITHIN_MS = 30_000;
/** Interval at which connections are closed that have become idle during a stop. */
const IDLE_LOOK_MS = 50;
/** Time in which the answers of calls that were given up reach their clients. */
const ANSWERED_WITHIN_MS = 1_000;

/**
 * The stop of a gateway. States: serving → draining (everything is served, but `/readyz` is 503 and answers say
 * `Connection: close`, so that load balancers turn to other gateways) → finishing (no new connections; requests in
 * flight end) → stopped.
 */
export class Stopping {
  readonly #finishWithinMs: number;
  #isDraining = false;
  readonly #sockets = new Set<Socket>();

  constructor(finishWithinMs = FINISH_WITHIN_MS) {
    this.#finishWithinMs = finishWithinMs;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Watches the connections of an app; to be called before it listens. */
  watch({ server }: FastifyInstance): void {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    // Clients are told to close their connections, because one that the gateway closes may just be about to carry a
    // request.
    server.prependListener('request', (_request, response) => {
      if (this.#isDraining) response.shouldKeepAlive = false;
    });
  }

  /**
   * Drains for `drainDelayMs`, then finishes. Resolves when the last request is answered and the last call is settled. Calls that
   * are open 30 s after the delay end as at their own time limit; whatever else is open is broken off a second later.
   */
  async stop(app: FastifyInstance, openCalls: OpenCalls, drainDelayMs: number): Promise<void> {
    this.#isDraining = true;
    if (drainDelayMs > 0) await sleep(drainDelayMs);
    const patience = setTimeout(async () => {
      openCalls.giveUp();
      await openCalls.ended();
      await sleep(ANSWERED_WITHIN_MS, undefined, { ref: false });
      app.server.closeAllConnections();
    }, this.#finishWithinMs);
    // Node counts a connection on which nothing ever came (a browser's preconnect) as busy, and would wait for it.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    // `close` ends the connections that are idle now; one whose answer ends later would be kept alive.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS);
    await app.close();
    clearInterval(idle);
    await openCalls.ended();
    clearTimeout(patience);
  }
}
