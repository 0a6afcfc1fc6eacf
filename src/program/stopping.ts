import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long requests in flight may take to finish after a signal (specification section 1, "Stop"). */
const FINISH_WITHIN_MS = 30_000;
/** How often connections are looked at that have become idle meanwhile. */
const IDLE_LOOK_MS = 50;

/**
 * How a gateway leaves. States: serving → draining (`/readyz` is 503, answers say `Connection: close`, all is served, so
 * that a load balancer can look elsewhere first) → finishing (nothing new is accepted, what is in flight ends) → stopped.
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
    // Clients are told to close their connections, so that none is cut while it is about to carry another request.
    server.prependListener('request', (_request, response) => {
      if (this.#isDraining) response.shouldKeepAlive = false;
    });
  }

  /** Resolves when the last request is answered, or 30 s after the delay. */
  async stop(app: FastifyInstance, drainDelayMs: number): Promise<void> {
    this.#isDraining = true;
    if (drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
    const patience = setTimeout(() => app.server.closeAllConnections(), FINISH_WITHIN_MS);
    // Node takes a connection on which nothing ever came (a browser's preconnect) for a busy one.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    // Node closes what is idle at this moment; a connection whose answer ends later would stay open, kept alive.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS);
    await app.close();
    clearInterval(idle);
    clearTimeout(patience);
  }
}
