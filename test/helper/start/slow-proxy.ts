import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** TCP proxy that can be blocked: connections stay open and nothing gets through, like a network fault. */
export interface SlowProxy {
  readonly port: number;
  block(): void;
  /** Lets new connections through again; blocked ones stay blocked. */
  unblock(): void;
}

export async function startSlowProxy(t: Test, targetPort: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  let blocked = false;
  const server = createServer((near) => {
    sockets.add(near);
    near.on('error', () => near.destroy());
    if (blocked) return near.pause();
    const far = connect(targetPort, '127.0.0.1');
    sockets.add(far);
    far.on('error', () => near.destroy());
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    block() {
      blocked = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    unblock() {
      blocked = false;
    },
  };
}
