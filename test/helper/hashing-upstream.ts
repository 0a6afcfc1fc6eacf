import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface Hashed {
  readonly contentLength: string | undefined;
  readonly bytes: number;
  readonly sha256: string;
}

/** Starts an upstream that keeps only the length and hash of each body, and answers every call alike. */
export async function startHashingUpstream(t: Test): Promise<{ url: string; received: Hashed[] }> {
  const received: Hashed[] = [];
  const server = createServer(async (message: IncomingMessage, response) => {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      for await (const chunk of message) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
      }
    } catch {
      return;
    }
    received.push({ contentLength: message.headers['content-length'], bytes, sha256: hash.digest('hex') });
    response.setHeader('content-type', 'application/json');
    response.end('{"text":"x","usage":{"prompt_tokens":1,"completion_tokens":1}}');
  });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
