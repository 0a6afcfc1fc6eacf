/**
 * A provider. `POST /crowd` with a `Crowd` starts callers that crowd a gateway: connections of a few accounts that send
 * slowly or read nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Crowd, Kind } from './profile-crowd.ts';
import { CHAT_PATH, CROWD_MODEL } from './wire.ts';

/** A chunk of a stream at full speed: 300 events, as many as a fast model writes in three seconds. */
const EVENTS =
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: CROWD_MODEL, choices: [{ index: 0, delta: { content: ' a few words' } }] })}\n\n`.repeat(
    300,
  );
const STREAM_BYTES = 16 * 2 ** 20;
const SLOW_MS = 60_000;
const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const choices = (content: string) => [
  { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' },
];
const answer = (content: string) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    model: CROWD_MODEL,
    choices: choices(content),
    usage,
  });
const SMALL = answer('Hello.');
const LARGE = answer('x'.repeat(1_000_000));

async function provide(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  if (request.url === '/crowd') {
    await crowd(JSON.parse(body.toString()) as Crowd);
    response.end();
    return;
  }
  const kind = /"user":"crowd-(\w+)"/.exec(body.toString('latin1'))?.[1];
  if (kind === 'streams') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream(response, STREAM_BYTES);
    return;
  }
  if (kind === 'bodies') await new Promise((resolve) => setTimeout(resolve, SLOW_MS).unref());
  response.setHeader('content-type', 'application/json');
  response.end(kind === 'answers' ? LARGE : SMALL);
}

function stream(response: ServerResponse, left: number): void {
  if (response.destroyed) return;
  if (left <= 0) response.end('data: [DONE]\n\n');
  else if (response.write(EVENTS)) setImmediate(stream, response, left - EVENTS.length);
  else response.once('drain', () => stream(response, left - EVENTS.length));
}

/** Body of a call of this kind, and the number of bytes to send. */
function callOf(kind: Kind): { body: string; sent: number } {
  const call = {
    model: CROWD_MODEL,
    max_tokens: 1_000,
    user: `crowd-${kind}`,
    messages: [{ role: 'user', content: 'Hello' }],
  };
  if (kind === 'streams') return whole({ ...call, stream: true, stream_options: { include_usage: true } });
  if (kind === 'bodies') return whole({ ...call, metadata: Array.from({ length: 21_000 }, () => ({})) });
  if (kind === 'answers') return whole(call);
  const { body } = whole({ ...call, messages: [{ role: 'user', content: 'x'.repeat(1_250_000) }] });
  return { body, sent: body.length - 1 };
}

function whole(call: object): { body: string; sent: number } {
  const body = JSON.stringify(call);
  return { body, sent: body.length };
}

async function crowd({ url, keys, kinds }: Crowd): Promise<void> {
  const { hostname, port } = new URL(url);
  const sent: Promise<void>[] = [];
  for (const [kind, count] of Object.entries(kinds)) {
    const call = callOf(kind as Kind);
    for (const key of keys) {
      const head = `POST ${CHAT_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
      const bytes = Buffer.from(
        `${head}Content-Length: ${call.body.length}\r\n\r\n${call.body.slice(0, call.sent)}`,
      );
      for (let index = 0; index < count; index++) sent.push(unread(hostname, Number(port), bytes));
    }
  }
  await Promise.all(sent);
}

/** Sends `bytes` on a connection and never reads from it. */
function unread(host: string, port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.pause();
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.write(bytes, () => resolve());
  });
}

const server = createServer((request, response) => void provide(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`,
  );
});
process.on('SIGTERM', () => process.exit(0));
