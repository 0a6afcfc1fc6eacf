import { once } from 'node:events';
import { createServer } from 'node:net';

/** First port to try. It is below the range of ephemeral ports, of which a busy machine may take one at any time. */
const FIRST = 12_000;
const COUNT = 20_000;

/** Finds `count` different ports on loopback that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const held = [];
  while (held.length < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) held.push({ port, server });
  }
  for (const { server } of held) {
    server.close();
    await once(server, 'close');
  }
  return held.map(({ port }) => port);
}
