import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../domain/errors.ts';
import { writeRefusal } from './refuse.ts';

const full = () => ({
  line: '503 Service Unavailable',
  refusal: new GatewayError(
    'service_unavailable',
    'The gateway has too many open connections. Try again shortly.',
  ),
});

/** Answers each connection beyond `most` with 503, and closes it. */
export function boundConnections(server: Server, most: number): void {
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open++;
    socket.once('close', () => open--);
    if (open > most) writeRefusal(socket, full());
  });
}
