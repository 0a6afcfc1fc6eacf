import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { type Answer, type AnswerOptions, json, type Piece } from '../../../src/demo/answer.ts';
import { DemoAnswers } from '../../../src/demo/demo-answers.ts';
import {
  type Listening,
  type ListenOptions,
  listen,
  receive,
  writePiece,
} from '../../../src/demo/demo-provider.ts';
import type { DemoRequest } from '../../../src/demo/read-request.ts';

export interface ScriptedProvider extends Listening {
  /** Requests so far in order of arrival; empty without `record`. */
  readonly requests: readonly ReceivedRequest[];
  /** Waits for the n-th request (from 0). Requires `record`. */
  request(n: number): Promise<ReceivedRequest>;
}

export interface ScriptOptions extends ListenOptions {
  readonly behave?: Behave | undefined;
  /** Keeps every request in memory. Default: true if `behave` is given. */
  readonly record?: boolean;
}

/**
 * Starts an upstream that answers like the demo provider, unless `behave` chooses another answer, pauses, a break or a
 * stall.
 */
export async function startScriptedProvider(options: ScriptOptions = {}): Promise<ScriptedProvider> {
  const { behave, record = behave !== undefined } = options;
  const answers = new DemoAnswers();
  const requests: ReceivedRequest[] = [];
  const waiting = new Map<number, PromiseWithResolvers<ReceivedRequest>>();
  const server = await listen(options, async (message, response) => {
    const request = await recorded(message, response);
    if (record) {
      waiting.get(requests.length)?.resolve(request);
      waiting.delete(requests.length);
      requests.push(request);
    }
    const behavior = (await behave?.(request)) ?? {};
    await play(response, await answerTo(request, behavior, answers), behavior);
  });
  return {
    ...server,
    requests,
    async request(n) {
      const come = requests[n];
      if (come) return come;
      const wanted = waiting.get(n) ?? Promise.withResolvers<ReceivedRequest>();
      waiting.set(n, wanted);
      return wanted.promise;
    },
  };
}

async function recorded(message: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const ended = new Promise<'answered' | 'broken'>((resolve) => {
    response.on('close', () => resolve(response.writableFinished ? 'answered' : 'broken'));
  });
  return { ...(await receive(message)), rawHeaders: message.rawHeaders, ended };
}

async function answerTo(request: ReceivedRequest, behavior: Behavior, answers: DemoAnswers): Promise<Answer> {
  const { body } = behavior;
  const answer =
    body === undefined
      ? await answers.answerTo(request, { createdS: CREATED_S, ...behavior })
      : givenAnswer(body);
  return {
    status: behavior.status ?? answer.status,
    headers: { ...answer.headers, ...behavior.headers },
    pieces: answer.pieces,
  };
}

function givenAnswer(body: NonNullable<Behavior['body']>): Answer {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return { status: 200, headers: {}, pieces: [body] };
  return isPieces(body) ? { status: 200, headers: {}, pieces: body } : json(200, body);
}

function isPieces(body: object): body is readonly Piece[] {
  return Array.isArray(body);
}

/** Time of creation in answers, so that equal requests get equal bytes. */
const CREATED_S = 1_735_689_600;
/** The last events of a stream: the reason for its end, the usage, and `[DONE]`. */
const LAST_EVENTS = 3;

/** Writes the answer with the pauses, break or stall of `behavior`. Ends early if the client leaves. */
async function play(response: ServerResponse, answer: Answer, behavior: Behavior): Promise<void> {
  const { breakAfter, stallAfter, waitAfter, intervalMs = 0, onEnding = () => {} } = behavior;
  const endsWith = Math.max(0, answer.pieces.length - LAST_EVENTS);
  if (behavior.delayMs) await sleep(behavior.delayMs);
  if (waitAfter?.pieces === 'nothing') await waitAfter.until;
  if (breakAfter === 'nothing' || stallAfter === 'nothing') onEnding();
  if (breakAfter === 'nothing') return breakOff(response);
  if (stallAfter === 'nothing') return;
  response.writeHead(answer.status, answer.headers);
  for (const [sent, piece] of answer.pieces.entries()) {
    if (sent > 0 && intervalMs > 0) await sleep(intervalMs);
    if (waitAfter?.pieces === sent) {
      response.flushHeaders();
      await waitAfter.until;
    }
    if (sent === endsWith || sent === breakAfter || sent === stallAfter) onEnding();
    if (breakAfter === sent) return breakOff(response);
    if (stallAfter === sent) return response.flushHeaders();
    if (response.destroyed) return;
    await writePiece(response, piece);
  }
  if (breakAfter !== undefined) return breakOff(response);
  if (stallAfter === undefined) response.end();
}

/**
 * Destroys the connection once all written pieces are sent, so the break loses none of them. Node 26 sends the chunks of
 * a turn of the event loop at its end.
 */
function breakOff(response: ServerResponse): void {
  if (response.headersSent) response.flushHeaders();
  setImmediate(() => response.socket?.destroySoon());
}

/** A request as the scripted provider received it. */
export interface ReceivedRequest extends DemoRequest {
  /** Headers as they were on the wire, names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** Resolves at the end of the exchange: whether the answer was complete or the connection ended first. */
  readonly ended: Promise<'answered' | 'broken'>;
}

/** Changes of the demo provider's answer to one request. */
export interface Behavior extends AnswerOptions {
  /** Pause before the status line, in milliseconds. */
  readonly delayMs?: number;
  /** Status; default that of the demo's answer, or 200. */
  readonly status?: number;
  /** Headers that replace the demo's headers of the same name, or the headers of `body`. */
  readonly headers?: OutgoingHttpHeaders;
  /** Replaces the demo's body: text or bytes; a list of them, written one by one; or an object, sent as JSON. */
  readonly body?: Piece | readonly Piece[] | Readonly<Record<string, unknown>>;
  /** Pause before every piece but the first, in milliseconds. */
  readonly intervalMs?: number;
  /**
   * Point at which the connection is destroyed: before the status line, or after so many pieces (0: after the headers).
   */
  readonly breakAfter?: 'nothing' | number;
  /** Point after which nothing is sent while the connection stays open, counted as for `breakAfter`. */
  readonly stallAfter?: 'nothing' | number;
  /** A wait after so many pieces (0: after the headers), or before the status line, until the promise resolves. */
  readonly waitAfter?: { readonly pieces: 'nothing' | number; readonly until: Promise<unknown> };
  /** Called before the last write, after which a gateway may consider the answer complete. */
  readonly onEnding?: (() => void) | undefined;
}

/** Chooses the answer to a request; undefined for the unchanged demo answer. */
export type Behave = (request: ReceivedRequest) => Behavior | undefined | Promise<Behavior | undefined>;

/** Starts a provider that holds back its answers to bodies with `wait` in them until the test releases them. */
export async function startWaitingProvider(t: Test) {
  const gate = Promise.withResolvers<void>();
  const provider = await startScriptedProvider({
    behave: async ({ body }) => {
      if (body.includes('wait')) await gate.promise;
      return undefined;
    },
  });
  t.teardown(() => provider.close());
  return { provider, letGo: gate.resolve };
}
