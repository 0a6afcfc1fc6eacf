import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';

/** Names of the upstreams that are the targets of each model, in their order (world.ts). Nobody listens at `gone`. */
export const GONE = 'gone';
export type TargetName = 'first' | 'test';

/**
 * What a target does with a call: `answers` as its behavior says; `fails` with an error before any content, after which the call
 * may go on at another target; `unsure`: breaks off or hangs, so that it may have begun to bill; or answers what is no answer.
 */
export type Way = 'answers' | 'fails' | 'unsure' | 'lies';

/** Facts of a call at a target, from its arrival on. */
export interface Taken {
  readonly way: Way;
  /** Status of the head of its answer; null for none. */
  readonly status: number | null;
  /** Least time for which the target is left out after this, in milliseconds; undefined where it need not be. */
  readonly outMs: number | undefined;
  readonly behavior: Behavior;
}

/** Time for which a target is left out after a failure, at least; and one that refuses its credential. */
export const OUT_MS = 1_000;
const REFUSED_OUT_MS = 60_000;

/** A failure by a status. `wait`: header that says for how long the target asks to be left alone. */
export function failure(status: number, outMs: number, wait: Readonly<Record<string, string>> = {}): Taken {
  const body = { error: { message: `The first target failed with ${status}.` } };
  return { way: 'fails', status, outMs, behavior: { status, headers: wait, body } };
}

/** Text that no answer has which a client gets. */
export const FAILED_WORDS = 'The first target failed within its stream.';

/** A stream that fails before its content. It is one to calls without a stream, too. */
export const FAILED_STREAM: Taken = {
  way: 'fails',
  status: 200,
  outMs: OUT_MS,
  behavior: {
    headers: { 'content-type': 'text/event-stream' },
    body: [
      'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n',
      `data: {"error":{"message":"${FAILED_WORDS}"}}\n\n`,
    ],
  },
};

/** Ways in which a connection ends that had carried a request. */
export const BROKEN: Taken = {
  way: 'unsure',
  status: null,
  outMs: OUT_MS,
  behavior: { breakAfter: 'nothing' },
};
export const SILENT: Taken = { ...BROKEN, behavior: { stallAfter: 'nothing' } };

function lie(behavior: Behavior, status = 200, outMs?: number): Taken {
  return { way: 'lies', status, outMs, behavior: { status, ...behavior } };
}

const LIES: readonly Taken[] = [
  lie({ usage: { prompt_tokens: -1, completion_tokens: 'many', total_tokens: 1e300 } }),
  FAILED_STREAM,
  lie({ usage: { prompt_tokens: 1e12, completion_tokens: 0.5, total_tokens: null } }),
  lie({ headers: { 'content-type': 'text/html' }, body: '<html>Welcome to nginx!</html>' }),
  lie({ headers: { 'content-type': 'application/json' }, body: '{"choices":[{"message":{"content":"hi' }),
  lie({ headers: { location: '/elsewhere' }, body: '' }, 302, OUT_MS),
];

/** Wait after which the target gets the next call, too. */
const SOON = { 'retry-after-ms': '1' };
const FAILURES: readonly Taken[] = [
  failure(500, 1, SOON),
  failure(429, 1, SOON),
  failure(503, 1, SOON),
  failure(529, 1, SOON),
];

const OVERLOADS: readonly Taken[] = [
  failure(529, OUT_MS),
  failure(429, 2_000, { 'retry-after': '2' }),
  failure(502, OUT_MS),
  failure(504, 1_500, { 'retry-after-ms': '1500' }),
];

const REFUSALS: readonly Taken[] = [failure(401, REFUSED_OUT_MS), failure(403, REFUSED_OUT_MS)];

/** The n-th call at a target in a mood, streamed or not; undefined: it answers as it is told by the call. */
type Mood = (call: number, isStream: boolean) => Taken | undefined;

const inTurn =
  (all: readonly Taken[]): Mood =>
  (call) =>
    all[call % all.length];

/** Moods of the first target, by name. */
export const MOODS = {
  answers: () => undefined,
  fails: inTurn(FAILURES),
  'is overloaded': inTurn(OVERLOADS),
  'refuses its credential': inTurn(REFUSALS),
  'breaks off': () => BROKEN,
  // A whole answer may begin as late as a call may last, so only streams are kept waiting.
  hangs: (_call, isStream) => (isStream ? SILENT : BROKEN),
  lies: inTurn(LIES),
} as const satisfies Record<string, Mood>;

export type MoodName = keyof typeof MOODS;
