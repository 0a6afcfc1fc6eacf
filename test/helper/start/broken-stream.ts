import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Test } from 'tap';
import type { Config } from '../../../src/config/config.ts';
import type { Usage } from '../../../src/domain/units.ts';
import { tokensIn } from '../../../src/metering/text-tokens.ts';
import type { Behavior, ReceivedRequest } from '../stand-ins/scripted-provider.ts';
import type { TestAccount } from './gateway-in-process.ts';
import { type MediaGateway, startMediaGateway } from './media-gateway.ts';

/** A part of an answer as the upstream sends it, and the model's text in it. */
export interface Piece {
  readonly sent: string | Buffer;
  readonly says?: string;
}

/** Usage that a call should be charged for: exact, or tokens within TOKENS_OFF. */
export interface Expected {
  readonly usage?: Usage;
  /** Input and output tokens as estimated, unless known exactly. */
  readonly tokens?: { readonly input?: number; readonly output?: number };
  readonly estimated: boolean;
}

/** Audio and images cost as much as text if a model has no price for them. */
const AS_TEXT = { inputAudio: 1_000, inputImage: 1_000, outputAudio: 2_000, outputImage: 2_000 };
/** Prices in micro-credits a unit, as media-gateway.ts and gateway-in-process.ts set them. */
const PRICES: Readonly<Record<string, Usage>> = {
  flat: { requests: 1_000_000 },
  'claude-flat': { requests: 1_000_000 },
  tokens: { input: 1_000, cachedInput: 500, cacheWrite: 1_000, output: 2_000, ...AS_TEXT },
  claude: { input: 1_000, cachedInput: 100, cacheWrite: 1_250, cacheWrite1h: 1_250, output: 2_000 },
  picture: { images: 1_000_000 },
  painter: { input: 1_000, cachedInput: 1_000, output: 2_000, ...AS_TEXT },
  voice: { characters: 1_000 },
  talker: { input: 1_000, cachedInput: 1_000, output: 2_000, ...AS_TEXT },
  ears: { audioSeconds: 10_000 },
  scribe: { input: 1_000, cachedInput: 1_000, output: 2_000, ...AS_TEXT },
};

const START = 1_000_000_000;
/** Largest difference, due to message framing and seams between texts. */
const TOKENS_OFF = 8;

export interface Heard {
  readonly status: number | undefined;
  readonly text: string;
  /** True if the answer ended cleanly. */
  readonly isWhole: boolean;
}

/** A case: one call, how the upstream answers it, and when the client leaves. */
export interface Case {
  readonly behavior: Behavior;
  readonly path: string;
  readonly body: string | FormData;
  /** The caller; default: a new account. */
  readonly account?: TestAccount | undefined;
  /**
   * When the client leaves: `sent`, once the upstream has the request, or once the function returns true for the text
   * received so far. Undefined if the client stays.
   */
  readonly leave?: 'sent' | ((text: string) => boolean);
}

export interface Ended {
  readonly heard: Heard;
  readonly account: TestAccount;
  /** How the exchange with the upstream ended, and the milliseconds since the client left; 0 if it stayed. */
  readonly upstream: 'answered' | 'broken';
  readonly upstreamEndedMs: number;
}

export interface ScriptedGateway extends MediaGateway {
  end(call: Case): Promise<Ended>;
}

/** Disables reading on and hidden reasoning, so that the charge doesn't depend on timing. */
const PATIENT = {
  requestTimeoutMs: 60_000,
  headersTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  readOnMs: 0,
  hiddenTokensPerSecond: 0,
};
/** Long enough for a provider on a busy machine to send its pieces before it stalls. */
export const IMPATIENT = { requestTimeoutMs: 10_000, headersTimeoutMs: 2_000, idleTimeoutMs: 2_000 };

/** Starts a gateway whose upstream answers each call as its case says. */
export async function startScriptedGateway(
  t: Test,
  times: Partial<Config['limits']> = {},
): Promise<ScriptedGateway> {
  const cases = new Map<string, { behavior: Behavior; received: (request: ReceivedRequest) => void }>();
  const limits = {
    ...PATIENT,
    ...times,
    imageTokens: 1_000,
    toolRounds: 3,
    toolTokens: 50_000,
    contextTokens: 10_000,
    waitingCalls: 1_000,
    journalEntries: 1_000_000,
  };
  const world = await startMediaGateway(
    t,
    (request) => {
      const named = cases.get(String(request.headers['x-case']));
      named?.received(request);
      return named?.behavior;
    },
    { limits },
  );
  return {
    ...world,
    async end(call) {
      const id = String(cases.size);
      const { promise, resolve } = Promise.withResolvers<ReceivedRequest>();
      cases.set(id, { behavior: call.behavior, received: resolve });
      const account = call.account ?? (await world.account());
      const { heard, left } = await listen(`${world.url}${call.path}`, call, promise, {
        authorization: `Bearer ${account.key}`,
        'x-case': id,
      });
      const upstream = await (await promise).ended;
      return { heard, account, upstream, upstreamEndedMs: left === 0 ? 0 : performance.now() - left };
    },
  };
}

/** Time within which an idle machine cancels the upstream call of a client that left. */
export const SOON_MS = 1_000;

/**
 * Ends a call whose upstream call is cancelled soon. A busy machine sometimes takes longer; the call is then repeated.
 */
export async function endSoon(world: ScriptedGateway, call: Case): Promise<Ended> {
  let ended = await world.end(call);
  for (let tries = 1; ended.upstreamEndedMs >= SOON_MS && tries < 5; tries++) ended = await world.end(call);
  return ended;
}

/** Sends the call and reads the answer to its end, or until the client leaves. */
async function listen(
  url: string,
  { body, leave }: Case,
  received: Promise<unknown>,
  headers: Record<string, string>,
): Promise<{ heard: Heard; left: number }> {
  const encoded = new Response(body);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  return await new Promise((resolve) => {
    let text = '';
    let status: number | undefined;
    let left = 0;
    const end = (isWhole: boolean) => resolve({ heard: { status, text, isWhole }, left });
    const outgoing = httpRequest(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-type': encoded.headers.get('content-type') ?? 'application/json' },
    });
    const go = () => {
      if (left === 0) left = performance.now();
      outgoing.destroy();
    };
    outgoing.on('error', () => end(false));
    outgoing.on('response', (response: IncomingMessage) => {
      status = response.statusCode;
      response.on('error', () => end(false));
      response.on('data', (part: Buffer) => {
        text += part.toString('latin1');
        if (typeof leave === 'function' && leave(text)) go();
      });
      response.on('end', () => end(response.complete));
    });
    if (leave === 'sent') void received.then(go);
    outgoing.end(bytes);
  });
}

/** Estimated tokens of the text in the pieces, in the order in which they arrive. */
export function tokensOf(pieces: readonly Piece[]): number {
  return tokensIn(pieces.map(({ says = '' }) => says).join(''));
}

/** Checks ledger row, balance and holds after the call. */
export async function checkRow(
  t: Test,
  world: ScriptedGateway,
  { account }: Ended,
  row: { status: number; outcome: string },
  expected: Expected | 'nothing',
): Promise<void> {
  const entry = await world.charged(account);
  t.match(entry, row);
  if (expected === 'nothing') t.match(entry, { credits: 0, usage: {}, estimated: false });
  else {
    t.match(entry, { usage: { ...expected.usage, requests: 1 }, estimated: expected.estimated });
    for (const unit of ['input', 'output'] as const) {
      const tokens = expected.tokens?.[unit];
      if (tokens === undefined) continue;
      const charged = entry.usage[unit] ?? Number.NaN;
      t.ok(
        Math.abs(charged - tokens) <= TOKENS_OFF,
        `${unit}: ${charged} charged, ${tokens} estimated from the texts`,
      );
    }
    const prices = PRICES[entry.model ?? ''] ?? {};
    const sum = Object.entries(prices).reduce(
      (micros, [unit, price]) => micros + (entry.usage[unit as keyof Usage] ?? 0) * price,
      0,
    );
    t.equal(-entry.credits, sum);
  }
  t.same(await world.held(account).then(({ balance, held }) => ({ balance, held })), {
    balance: START + entry.credits,
    held: 0,
  });
  const rows = await world.book.ledger({ accountId: account.accountId, limit: 10 });
  t.same(
    rows.map(({ type }) => type),
    ['charge', 'top_up'],
  );
}
