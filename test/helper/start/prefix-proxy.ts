import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './scope.ts';

/**
 * Starts a reverse proxy that serves a gateway below a path, which it takes away. Resolves with the address below which
 * the gateway is.
 */
export async function startPrefixProxy(t: Scope, gateway: string, prefix: string): Promise<string> {
  const server = createServer((from, reply) => {
    if (!from.url?.startsWith(`${prefix}/`)) return void reply.writeHead(404).end();
    const target = new URL(gateway);
    const { port, hostname: host } = target;
    const path = from.url.slice(prefix.length);
    const to = request({ host, port, path, method: from.method, headers: from.headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    to.on('error', () => reply.destroy());
    from.pipe(to);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
}
