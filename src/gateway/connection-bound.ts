import type { Server } from 'node:http';
import type { Socket } from 'node:net';
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

/** Answers each connection that finds no place for its address with 503, and closes it. */
export function boundConnections(server: Server, places: FairPool<string>): void {
  server.on('connection', (socket: Socket) => {
    const place = places.take(socket.remoteAddress ?? '');
    if (place) socket.once('close', () => place.release());
    else writeRefusal(socket, full());
  });
}
