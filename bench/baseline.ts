/** Baseline in a separate process: a plain Fastify with @fastify/http-proxy and nothing else. */
import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';

const upstream = process.argv[2] ?? '';
const app = Fastify();
await app.register(httpProxy, {
  upstream,
  // With the default of 128, other open streams would wait. It makes no difference to the other profiles.
  undici: { connections: 10_000 },
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ url })}\n`);
