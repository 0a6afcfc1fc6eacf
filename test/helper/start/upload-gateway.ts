import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeOwner } from '../clients/owner.ts';
import { FORM_BOUNDARY } from '../fixtures/large-body.ts';
import { type GatewayProcess, makePlace, type Place, startGatewayProcess } from './gateway-process.ts';

const MODELS = `  ears: { upstream: test, category: stt, price: { request: 0.001 } }
  ears-renamed: { upstream: test, upstreamModel: other-ears, category: stt, price: { request: 0.001 } }
  sees: { upstream: test, category: text, maxOutputTokens: 10, price: { request: 0.001 } }
  renamed: { upstream: test, upstreamModel: other, category: text, maxOutputTokens: 10, price: { request: 0.001 } }
`;

/** Starts a gateway in its own process, with a hashing upstream. On Linux, its memory and files can be inspected. */
export async function startUploadGateway(t: Test, more = '', env: NodeJS.ProcessEnv = {}) {
  const upstream = await startHashingUpstream(t);
  const place = makePlace(t, upstream.url, { NODE_OPTIONS: '', ...env }, MODELS + more);
  const gateway = await startGatewayProcess(t, place);
  const { key } = await makeOwner(gateway, 1_000);
  return { upstream, place, gateway, key };
}

/** Megabytes of resident memory: the peak since it was last read (`VmHWM`), or those of now (`VmRSS`). */
export function megabytes({ pid }: GatewayProcess, which: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(new RegExp(`^${which}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  // 5 resets the peak to the current memory.
  if (which === 'VmHWM') writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return kilobytes / 1024;
}

/** Number of upload files that the gateway has open, and number of files in its folder. */
export function uploadsOf({ pid }: GatewayProcess, { dataDir }: Place): { open: number; seen: number } {
  const folder = join(dataDir, 'uploads');
  const fds = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return {
    open: fds.filter((path) => path.startsWith(folder)).length,
    seen: existsSync(folder) ? readdirSync(folder).length : 0,
  };
}

export interface Hashed {
  readonly contentLength: string | undefined;
  readonly bytes: number;
  readonly sha256: string;
}

/** Starts an upstream that keeps only the length and hash of each body, and answers every call the same. */
export async function startHashingUpstream(t: Test): Promise<{ url: string; received: Hashed[] }> {
  const received: Hashed[] = [];
  const server = createServer(async (message: IncomingMessage, response) => {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      for await (const chunk of withFormBoundary(message)) {
        hash.update(chunk);
        bytes += chunk.length;
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

/** The pieces of a body; a form has the boundary of `audioForm` instead of the gateway's, which is as long. */
async function* withFormBoundary(message: IncomingMessage): AsyncGenerator<Buffer> {
  const boundary = message.headers['content-type']?.split('boundary=')[1] ?? FORM_BOUNDARY;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of message) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    for (let at = bytes.indexOf(boundary); at >= 0; at = bytes.indexOf(boundary, at + 1)) {
      bytes.write(FORM_BOUNDARY, at);
    }
    const whole = Math.max(0, bytes.length - boundary.length);
    yield bytes.subarray(0, whole);
    rest = bytes.subarray(whole);
  }
  yield rest;
}
