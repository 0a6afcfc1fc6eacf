import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failure, json } from './answer.ts';
import type { Behave, Behaviour, Piece, ReceivedRequest } from './behaviour.ts';
import { answerChat, completionBody, completionEvents } from './chat-answer.ts';
import { parseObject, readChatRequest } from './chat-request.ts';
import { completionsRoute } from './completions-route.ts';
import { fieldsOf } from './fields.ts';
import { answerImages } from './image-answer.ts';
import { messagesRoute } from './messages-route.ts';
import { countTokensRoute, embeddingsRoute, moderationsRoute } from './plain-routes.ts';
import { responsesRoute } from './responses-route.ts';
import type { DemoRoute } from './route.ts';
import { type Answer, sendAnswer } from './send-answer.ts';
import { answerSpeech } from './speech-answer.ts';
import { answerTranscript } from './transcript-answer.ts';
import { DemoVideos } from './videos.ts';

export interface DemoProvider {
  /** `http://host:port`, without a slash at its end. */
  readonly url: string;
  /** What came so far, in order of arrival, where `record` is on; else empty. */
  readonly requests: readonly ReceivedRequest[];
  /** The n-th request (from 0) when it has come. Needs `record`. */
  request(n: number): Promise<ReceivedRequest>;
  /** Ends every connection and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

export interface DemoOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  readonly behave?: Behave;
  /** Keeps every request in memory. Default: where `behave` is given. */
  readonly record?: boolean;
}

const MODELS = ['demo-chat', 'demo-image', 'demo-tts', 'demo-stt', 'demo-video'].map((id) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'tollgate',
}));

/**
 * A provider in OpenAI's and Anthropic's format with no AI behind it: what `npm start` shows without a provider key, and
 * the upstream of the tests and load tests. Answers and their usage follow from the request alone: a token is four bytes.
 * Only videos are remembered. It serves the paths in ROUTES and MEDIA, `/v1/videos` with what is below it, and `GET /v1/models`; `behave` can make it answer anything anywhere.
 */
export async function startDemoProvider(options: DemoOptions = {}): Promise<DemoProvider> {
  const { host = '127.0.0.1', port = 0, behave, record = behave !== undefined } = options;
  const requests: ReceivedRequest[] = [];
  const videos = new DemoVideos();
  const waiting = new Map<number, PromiseWithResolvers<ReceivedRequest>>();

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await receive(message, response);
    if (record) {
      waiting.get(requests.length)?.resolve(request);
      waiting.delete(requests.length);
      requests.push(request);
    }
    const behaviour = (await behave?.(request)) ?? {};
    await sendAnswer(response, await answerTo(request, behaviour, videos), behaviour);
  }

  const server = createServer((message, response) => {
    // A client that leaves while its body is read, or a `behave` that throws: neither is to end the process.
    serve(message, response).catch(() => response.destroy());
  });
  // An idle connection is closed by the gateway, never from here: one closed in the instant in which a call is sent on
  // it would cost that call, because a call is not sent twice.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    requests,
    async request(n) {
      const come = requests[n];
      if (come) return come;
      const wanted = waiting.get(n) ?? Promise.withResolvers<ReceivedRequest>();
      waiting.set(n, wanted);
      return wanted.promise;
    },
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

async function receive(message: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const ended = new Promise<'answered' | 'broken'>((resolve) => {
    response.on('close', () => resolve(response.writableFinished ? 'answered' : 'broken'));
  });
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return {
    method: message.method ?? '',
    url: message.url ?? '',
    headers: message.headers,
    rawHeaders: message.rawHeaders,
    body: Buffer.concat(parts),
    ended,
  };
}

async function answerTo(request: ReceivedRequest, behaviour: Behaviour, videos: DemoVideos): Promise<Answer> {
  const builtIn =
    behaviour.body === undefined
      ? await builtInAnswer(request, behaviour, videos)
      : givenAnswer(behaviour.body);
  return {
    status: behaviour.status ?? builtIn.status,
    headers: { ...builtIn.headers, ...behaviour.headers },
    pieces: builtIn.pieces,
  };
}

function builtInAnswer(
  request: ReceivedRequest,
  behaviour: Behaviour,
  videos: DemoVideos,
): Answer | Promise<Answer> {
  const path = request.url.split('?', 1)[0] ?? '';
  if (request.method === 'GET' && path === '/v1/models') return json(200, { object: 'list', data: MODELS });
  const ofJob = videos.answer(request.method, request.url);
  if (ofJob) return ofJob;
  if (request.method === 'POST' && path === '/v1/videos') {
    return mediaAnswer(request, behaviour, (fields) => videos.create(fields));
  }
  const media = request.method === 'POST' ? MEDIA[path] : undefined;
  if (media) return mediaAnswer(request, behaviour, media);
  const route = request.method === 'POST' ? ROUTES.get(path) : undefined;
  if (!route) return failure(404, `The demo provider has no ${request.method} ${path}.`);
  const body = parseObject(request.body);
  const answer = typeof body?.model === 'string' ? route(body, request.body, behaviour) : undefined;
  if (!answer)
    return failure(400, 'The demo provider needs a JSON object with model and what the path asks for.');
  if (!Array.isArray(answer)) return json(200, answer);
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    pieces: answer,
  };
}

const chatRoute: DemoRoute = (_json, body, behaviour) => {
  const chat = readChatRequest(body);
  if (!chat) return undefined;
  const answer = answerChat(chat, body, behaviour);
  return chat.stream ? completionEvents(answer, chat.includeUsage, behaviour.chunks) : completionBody(answer);
};

const ROUTES: ReadonlyMap<string, DemoRoute> = new Map([
  ['/v1/chat/completions', chatRoute],
  ['/v1/completions', completionsRoute],
  ['/v1/responses', responsesRoute],
  ['/v1/embeddings', embeddingsRoute],
  ['/v1/moderations', moderationsRoute],
  ['/v1/messages', messagesRoute],
  ['/v1/messages/count_tokens', countTokensRoute],
]);
type MediaAnswer = (fields: Record<string, unknown>, behaviour: Behaviour) => Answer;

const MEDIA: Readonly<Record<string, MediaAnswer>> = {
  '/v1/images/generations': (fields, behaviour) => answerImages(fields, 'image_generation', behaviour),
  '/v1/images/edits': (fields, behaviour) => answerImages(fields, 'image_edit', behaviour),
  '/v1/images/variations': (fields, behaviour) => answerImages(fields, 'image_edit', behaviour),
  '/v1/audio/speech': answerSpeech,
  '/v1/audio/transcriptions': answerTranscript,
  '/v1/audio/translations': answerTranscript,
};

async function mediaAnswer(
  request: ReceivedRequest,
  behaviour: Behaviour,
  answer: MediaAnswer,
): Promise<Answer> {
  const fields = await fieldsOf(request);
  if (typeof fields?.model !== 'string') {
    return failure(400, 'The demo provider needs a JSON object or a form with a model.');
  }
  return answer(fields, behaviour);
}

function givenAnswer(body: NonNullable<Behaviour['body']>): Answer {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return { status: 200, headers: {}, pieces: [body] };
  return isPieces(body) ? { status: 200, headers: {}, pieces: body } : json(200, body);
}

function isPieces(body: object): body is readonly Piece[] {
  return Array.isArray(body);
}
