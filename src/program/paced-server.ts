import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { LoopTurns } from '../shares/loop-turns.ts';

/**
 * A request that buffers only the first piece of its body until it is read: at most 64 KiB, received with the head.
 * With Node's default bound, a thousand queued requests would each hold another piece.
 */
export class PatientRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super({ readableHighWaterMark: 1 } as Socket);
    this.socket = socket;
    // Node also uses this name for the socket.
    Object.assign(this, { client: socket });
  }
}

type Begin = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Starts the requests of a server in turns by credential, so simultaneous requests spread over several turns of the
 * event loop, and accepts connections before such work.
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
