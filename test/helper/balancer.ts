import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Test } from 'tap';

const LOOK_MS = 50;

interface Backend {
  readonly url: string;
  isReady: boolean;
  readonly agent: Agent;
}

/** A load balancer over HTTP that keeps connections to its backends, follows their /readyz, and repeats nothing. */
export interface Balancer {
  readonly url: string;
  add(url: string): void;
  remove(url: string): void;
  /** Number of backends that were ready when they were last asked. */
  ready(): number;
}

export async function startBalancer(t: Test): Promise<Balancer> {
  const backends: Backend[] = [];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const able = backends.filter(({ isReady }) => isReady);
    const backend = able[turn++ % able.length];
    if (backend) pass(backend, incoming, outgoing);
    else outgoing.writeHead(502).end('no backend is ready');
  });
  const looks = setInterval(() => void Promise.all(backends.map(look)), LOOK_MS);
  const url = await listen(server);
  t.teardown(() => {
    clearInterval(looks);
    for (const { agent } of backends) agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    add(backend) {
      backends.push({ url: backend, isReady: false, agent: new Agent({ keepAlive: true }) });
    },
    remove(backend) {
      const index = backends.findIndex((known) => known.url === backend);
      if (index >= 0) backends.splice(index, 1)[0]?.agent.destroy();
    },
    ready: () => backends.filter(({ isReady }) => isReady).length,
  };
}

async function look(backend: Backend): Promise<void> {
  const answer = await fetch(`${backend.url}/readyz`).catch(() => undefined);
  await answer?.text();
  backend.isReady = answer?.status === 200;
}

function pass({ url, agent }: Backend, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers, url: path = '' } = incoming;
  const sent = request(`${url}${path}`, { method, headers, agent }, (answer) => {
    // Hop-by-hop headers are about the backend's connection and not about the client's.
    const { connection: _connection, 'keep-alive': _keepAlive, ...rest } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, rest);
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  });
  sent.on('error', (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end(error.message);
  });
  incoming.pipe(sent);
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}
