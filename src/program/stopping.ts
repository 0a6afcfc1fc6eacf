import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { LeftCalls } from '../gateway/response/left-calls.ts';

/** Time for requests in flight to finish after a signal (specification section 1, "Stop"). */
const FINISH_WITHIN_MS = 30_000;
/** Interval at which connections are closed that have become idle during a stop. */
const IDLE_LOOK_MS = 50;

/**
 * The stop of a gateway. States: serving → draining (everything is served, but `/readyz` is 503 and answers say
 * `Connection: close`, so that load balancers turn to other gateways) → finishing (no new connections; requests in
 * flight end) → stopped.
 */
export class Stopping {
  #isDraining = false;
  readonly #sockets = new Set<Socket>();

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
   * Drains for `drainDelayMs`, then finishes. Resolves when the last request is answered and the last call that its client
   * left is settled, which are given up 30 s after the delay.
   */
  async stop(app: FastifyInstance, leftCalls: LeftCalls, drainDelayMs: number): Promise<void> {
    this.#isDraining = true;
    if (drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
    const over = new AbortController();
    const patience = setTimeout(() => {
      // First, so that closing the connections of the others has nothing read on.
      leftCalls.giveUp();
      app.server.closeAllConnections();
      over.abort();
    }, FINISH_WITHIN_MS);
    // Node counts a connection on which nothing ever came (a browser's preconnect) as busy, and would wait for it.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    // `close` ends the connections that are idle now; one whose answer ends later would be kept alive.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS);
    await app.close();
    clearInterval(idle);
    await leftCalls.ended(over.signal);
    clearTimeout(patience);
  }
}
