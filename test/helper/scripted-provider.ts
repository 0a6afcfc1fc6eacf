import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, json, type Piece } from '../../src/demo/answer.ts';
import { DemoAnswers } from '../../src/demo/demo-answers.ts';
import { type Listening, type ListenOptions, listen, receive } from '../../src/demo/listen.ts';
import { writePiece } from '../../src/demo/send-answer.ts';
import type { Behave, Behaviour, ReceivedRequest } from './behaviour.ts';

export interface ScriptedProvider extends Listening {
  /** Requests so far in order of arrival; empty where `record` is off. */
  readonly requests: readonly ReceivedRequest[];
  /** Resolves with the n-th request (from 0) once it has come. Needs `record`. */
  request(n: number): Promise<ReceivedRequest>;
}

export interface ScriptOptions extends ListenOptions {
  readonly behave?: Behave | undefined;
  /** True where every request is kept in memory. Default: true if `behave` is given. */
  readonly record?: boolean;
}

/**
 * Starts an upstream that answers as the demo provider does, unless `behave` asks for something else: another answer,
 * pauses, a break or a stall.
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
    const behaviour = (await behave?.(request)) ?? {};
    await play(response, await answerTo(request, behaviour, answers), behaviour);
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

async function answerTo(
  request: ReceivedRequest,
  behaviour: Behaviour,
  answers: DemoAnswers,
): Promise<Answer> {
  const { body } = behaviour;
  const answer = body === undefined ? await answers.answerTo(request, behaviour) : givenAnswer(body);
  return {
    status: behaviour.status ?? answer.status,
    headers: { ...answer.headers, ...behaviour.headers },
    pieces: answer.pieces,
  };
}

function givenAnswer(body: NonNullable<Behaviour['body']>): Answer {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return { status: 200, headers: {}, pieces: [body] };
  return isPieces(body) ? { status: 200, headers: {}, pieces: body } : json(200, body);
}

function isPieces(body: object): body is readonly Piece[] {
  return Array.isArray(body);
}

/** Events of a stream that are its end: the reason why it ends, the usage, and `[DONE]`. */
const LAST_EVENTS = 3;

/** Writes the answer with the pauses, the break or the stall of `behaviour`. Ends early where the client has left. */
async function play(response: ServerResponse, answer: Answer, behaviour: Behaviour): Promise<void> {
  const { breakAfter, stallAfter, waitAfter, intervalMs = 0, onEnding = () => {} } = behaviour;
  const endsWith = Math.max(0, answer.pieces.length - LAST_EVENTS);
  if (behaviour.delayMs) await sleep(behaviour.delayMs);
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

/** Destroys the connection once all pieces that were written have gone out, so that the break loses none of them. */
function breakOff(response: ServerResponse): void {
  if (response.headersSent) response.flushHeaders();
  response.socket?.destroySoon();
}
