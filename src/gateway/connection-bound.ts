import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from '../domain/addresses.ts';
import { GatewayError } from '../domain/errors.ts';
import type { FairPool } from '../shares/fair-pool.ts';
import { writeRefusal } from './refuse.ts';

const full = () => ({
  line: '503 Service Unavailable',
  refusal: new GatewayError(
    'service_unavailable',
    'The gateway has too many open connections. Try again shortly.',
  ),
});

/**
 * Bounds the connections by network, an IPv4 address or the /64 of an IPv6 address. If all places are taken, cuts the
 * connection that has waited longest for its first request. Answers a connection that finds no place with 503.
 */
export function boundConnections(server: Server, places: FairPool<string>): void {
  /** Connections before their first request, the oldest first, with what cuts them. */
  const silent = new Map<Socket, () => void>();
  server
    .on('connection', (socket: Socket) => {
      const network = clientNetwork(socket.remoteAddress ?? '');
      if (places.use.places >= places.places.all) silent.values().next().value?.();
      const place = places.take(network);
      if (!place) {
        writeRefusal(socket, full());
        return;
      }
      const end = () => {
        silent.delete(socket);
        place.release();
      };
      silent.set(socket, () => {
        end();
        socket.destroy();
      });
      socket.once('close', end);
    })
    .on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
}
