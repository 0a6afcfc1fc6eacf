import { connect } from 'node:net';
import { test } from 'tap';
import { makeOwner } from '../helper/clients/owner.ts';
import { megabytes, startUploadGateway } from '../helper/start/upload-gateway.ts';

const isLinux = process.platform === 'linux';
const CONNECTIONS = 20;
/** Bytes of requests on each connection, 60 MB on all. */
const BYTES = 3_000_000;
/** Calls of another account meanwhile. */
const CALLS = 20;

test('60 MB of pipelined requests ended the process, or stopped all others', {
  skip: !isLinux,
}, async (t) => {
  const world = await startUploadGateway(t, '', { NODE_OPTIONS: '--max-old-space-size=512' });
  const { gateway } = world;
  const { hostname, port } = new URL(gateway.url);
  const { key } = await makeOwner(gateway, 10);
  const head = (line: string, rest = '') => `${line} HTTP/1.1\r\nHost: a\r\n${rest}\r\n`;
  const json = (path: string, body: string) =>
    `${head(path, `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`)}${body}`;
  const kinds = {
    '404': head('GET /x'),
    '/healthz': head('GET /healthz'),
    '401': head('POST /v1/chat/completions', 'Content-Length: 0\r\n'),
    OPTIONS: head('OPTIONS /v1/models', 'Origin: a\r\nAccess-Control-Request-Method: GET\r\n'),
    '417': head('GET /x', 'Expect: x\r\n'),
    models: head('GET /v1/models', `Authorization: Bearer ${key}\r\n`),
    calls: json('POST /v1/chat/completions', '{"model":"sees","max_tokens":1,"messages":[]}'),
    writes: json('PATCH /api/account/', '{"alert_threshold":1}'),
  };
  const call = async () => {
    const answer = await gateway.chat(world.key, { model: 'sees', max_tokens: 1 });
    await answer.arrayBuffer();
    return answer.status;
  };
  for (let n = 0; n < 200; n++) await call();
  for (const [kind, request] of Object.entries(kinds)) {
    const before = megabytes(gateway, 'VmRSS');
    megabytes(gateway, 'VmHWM');
    const all = Buffer.from(request.repeat(BYTES / request.length));
    const sockets = Array.from({ length: CONNECTIONS }, (_, index) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      // Half of the clients read their answers.
      if (index % 2 === 0) socket.resume();
      socket.write(all);
      return socket;
    });
    const statuses: number[] = [];
    for (let n = 0; n < CALLS; n++) statuses.push(await call());
    t.same(new Set(statuses), new Set([200]), `${kind}: another account's calls go on`);
    const grown = megabytes(gateway, 'VmHWM') - before;
    t.ok(grown < 60, `${kind}: grew by ${grown.toFixed(0)} MB`);
    for (const socket of sockets) socket.destroy();
  }
});
