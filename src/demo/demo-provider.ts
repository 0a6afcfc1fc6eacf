import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Config, DEMO_URL } from '../config/config.ts';
import type { Model, Upstream } from '../domain/catalog.ts';
import type { Answer, Piece } from './answer.ts';
import { DemoAnswers } from './demo-answers.ts';
import type { DemoRequest } from './read-request.ts';

/** Starts the demo provider, so that `npm start` works without a provider key. */
export function startDemoProvider(): Promise<Listening> {
  const answers = new DemoAnswers();
  return listen({}, async (message, response) => {
    await sendAnswer(response, await answers.answerTo(await receive(message)));
  });
}

/** Writes the answer piece by piece, no faster than the client reads. Stops if the client disconnects. */
async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  for (const piece of answer.pieces) {
    if (response.destroyed) return;
    await writePiece(response, piece);
  }
  response.end();
}

/** Writes a piece; resolves when the client accepts more or has disconnected. */
export async function writePiece(response: ServerResponse, piece: Piece): Promise<void> {
  if (response.write(piece)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/**
 * The demo provider as an upstream on loopback. Starts with the first configuration that uses it. Close it after the
 * gateway, whose last calls may need it.
 */
export class DemoUpstreams {
  #provider: Promise<Listening> | undefined;

  /**
   * Sets the provider's address in each upstream whose URL is `DEMO_URL`, and starts the provider if needed. Returns a
   * configuration without such an upstream unchanged.
   */
  async bind(config: Config): Promise<Config> {
    const isDemo = ({ url }: { readonly url: string }) => url === DEMO_URL;
    const upstreams = [...config.upstreams];
    if (!upstreams.some(([, { messages, ...first }]) => isDemo(first) || (messages && isDemo(messages))))
      return config;
    this.#provider ??= startDemoProvider();
    const { url } = await this.#provider;
    const known = new Map<Upstream, Upstream>();
    const addressed = (upstream: Upstream): Upstream => {
      const { messages } = upstream;
      const made =
        known.get(upstream) ??
        Object.freeze({
          ...upstream,
          ...(isDemo(upstream) && { url }),
          ...(messages && isDemo(messages) && { messages: { ...messages, url } }),
        });
      known.set(upstream, made);
      return made;
    };
    const bound = (model: Model): Model => {
      const { targets, byFormat } = model;
      return Object.freeze({
        ...model,
        upstream: addressed(model.upstream),
        targets: targets?.map((target) => ({ ...target, model: bound(target.model) })),
        byFormat: byFormat && { openai: bound(byFormat.openai), anthropic: bound(byFormat.anthropic) },
      });
    };
    return Object.freeze({
      ...config,
      upstreams: new Map(upstreams.map(([name, upstream]) => [name, addressed(upstream)])),
      catalog: new Map([...config.catalog].map(([slug, model]) => [slug, bound(model)])),
    });
  }

  async close(): Promise<void> {
    await (await this.#provider)?.close();
  }
}

export interface Listening {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  /** Ends every connection and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen on; default 0, any free port. */
  readonly port?: number | undefined;
}

/** Starts an HTTP server that answers with `serve`. Destroys the connection if `serve` rejects. */
export async function listen(
  { host = '127.0.0.1', port = 0 }: ListenOptions,
  serve: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const server = createServer((message, response) => {
    // A client that disconnects while sending its body must not crash the process.
    serve(message, response).catch(() => response.destroy());
  });
  // Only the gateway closes idle connections, never this server: a call sent at that instant would fail, because the
  // gateway doesn't send a call twice.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

/** Reads the whole body. Rejects if the client disconnects first. */
export async function receive(message: IncomingMessage): Promise<DemoRequest> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return {
    method: message.method ?? '',
    url: message.url ?? '',
    headers: message.headers,
    body: Buffer.concat(parts),
  };
}
