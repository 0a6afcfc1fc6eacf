import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** TCP proxy to a server on loopback that can lose the server's replies, or be slow. */
export interface TcpProxy {
  readonly port: number;
  /** Drops all replies on the open connections; requests still arrive. */
  loseReplies(): void;
  /** Ends every open connection. New ones work. */
  cut(): void;
  /** Delays all bytes from now on by `ms`, in both directions. */
  delay(ms: number): void;
}

export async function startTcpProxy(t: Test, targetPort: number): Promise<TcpProxy> {
  let delayMs = 0;
  /** Wraps `forward` to delay each piece. Keeps their order even if the delay changes. */
  const late = (forward: (bytes: Buffer) => void) => {
    const waiting: { readonly bytes: Buffer; readonly dueAt: number }[] = [];
    const forwardDue = () => {
      for (let first = waiting[0]; first; first = waiting[0]) {
        const leftMs = first.dueAt - performance.now();
        if (leftMs > 0) {
          setTimeout(forwardDue, leftMs);
          return;
        }
        waiting.shift();
        forward(first.bytes);
      }
    };
    return (bytes: Buffer) => {
      waiting.push({ bytes, dueAt: performance.now() + delayMs });
      if (waiting.length === 1) forwardDue();
    };
  };
  const pairs = new Set<{ near: Socket; far: Socket; isDeaf: boolean }>();
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    const pair = { near, far, isDeaf: false };
    pairs.add(pair);
    const end = () => {
      near.destroy();
      far.destroy();
      pairs.delete(pair);
    };
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    near.on(
      'data',
      late((bytes) => far.write(bytes)),
    );
    far.on(
      'data',
      late((bytes) => {
        if (!pair.isDeaf) near.write(bytes);
      }),
    );
  });
  const cut = () => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    cut();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    loseReplies() {
      for (const pair of pairs) pair.isDeaf = true;
    },
    cut,
    delay(ms) {
      delayMs = ms;
    },
  };
}
