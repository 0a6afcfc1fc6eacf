import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { LoopTurns } from '../shares/loop-turns.ts';

/**
 * A request of whose body only the first piece is read before it is asked for: what came with the head, at most 64 KiB. With
 * Node's own bound, a thousand requests that wait for their turn would keep another piece each.
 */
export class PatientRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super({ readableHighWaterMark: 1 } as Socket);
    this.socket = socket;
    // Node knows the socket by this name, too.
    Object.assign(this, { client: socket });
  }
}

type Begin = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Has the requests of a server begin by turns of their credentials, so that those that come together begin in several turns of
 * the event loop, and has its connections accepted before such work.
 */
export function paceServer(server: Server, turns: LoopTurns): void {
  const [begin] = server.listeners('request') as Begin[];
  if (!begin) throw new Error('the server has no handler for requests');
  server
    .on('connection', () => turns.accepted())
    .off('request', begin)
    .on('request', (request, response) => {
      const { authorization, 'x-api-key': key } = request.headers;
      turns.run(authorization ?? key, () => begin.call(server, request, response));
    });
}
