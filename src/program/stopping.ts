import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OpenCalls } from '../gateway/response/open-calls.ts';

/** Time for requests in flight to finish after a signal (specification section 1, "Stop"). */
const FINISH_WITHIN_MS = 30_000;
/** Interval for closing connections that became idle during a stop. */
const IDLE_LOOK_MS = 50;
/** Time for the answers of abandoned calls to reach their clients. */
const ANSWERED_WITHIN_MS = 1_000;

/**
 * Shutdown of a gateway. States: serving → draining (serves everything, but `/readyz` returns 503 and answers carry
 * `Connection: close`, so load balancers move to other gateways) → finishing (no new connections; requests in flight
 * end) → stopped.
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

  /** Watches the connections of an app; call before it listens. */
  watch({ server }: FastifyInstance): void {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    // Clients close the connections: one closed by the gateway may be about to carry a request.
    server.prependListener('request', (_request, response) => {
      if (this.#isDraining) response.shouldKeepAlive = false;
    });
  }

  /**
   * Drains for `drainDelayMs`, then finishes. Resolves when the last request is answered and the last call is settled.
   * Calls open 30 s after the delay end as at their time limit; anything else is aborted a second later.
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
    // Node counts a connection without any data (a browser's preconnect) as busy, and would wait for it.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    // `close` ends only connections that are idle now; one whose answer ends later would stay alive.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS);
    await app.close();
    clearInterval(idle);
    await openCalls.ended();
    clearTimeout(patience);
  }
}
