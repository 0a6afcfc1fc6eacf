import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';

/** Names of the upstreams that are the targets of each model, in their order (world.ts). Nobody listens at `gone`. */
export const GONE = 'gone';
export type TargetName = 'first' | 'test';

/**
 * Behavior of a target. `answers`: as its behavior says. `fails`: an error before any content, after which the call may
 * go on at another target. `unsure`: breaks off or hangs, so it may have begun to bill. `lies`: answers with nonsense.
 */
export type Way = 'answers' | 'fails' | 'unsure' | 'lies';

/** Facts of a call at a target, from its arrival on. */
export interface Taken {
  readonly way: Way;
  /** Status of the head of its answer; null for none. */
  readonly status: number | null;
  /** Minimum time that the target is out after this, in milliseconds; undefined if it may stay in. */
  readonly outMs: number | undefined;
  readonly behavior: Behavior;
}

/** Minimum time that a target is out after a failure, and after a refused credential. */
export const OUT_MS = 1_000;
const REFUSED_OUT_MS = 60_000;

/** A failure by a status. `wait`: header with the requested pause. */
export function failure(status: number, outMs: number, wait: Readonly<Record<string, string>> = {}): Taken {
  const body = { error: { message: `The first target failed with ${status}.` } };
  return { way: 'fails', status, outMs, behavior: { status, headers: wait, body } };
}

/** Text that a client never gets. */
export const FAILED_WORDS = 'The first target failed within its stream.';

/** A stream that fails before its content; also the answer to calls without a stream. */
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

/** Ways in which a connection ends after it carried a request. */
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
  { ...FAILED_STREAM, behavior: { headers: { 'content-type': 'text/html' }, body: '<html>Welcome!</html>' } },
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

/** Behavior of a target in a mood at its n-th call, streamed or not; undefined: it answers as the call says. */
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
  // A whole answer may begin at any time within the duration of a call, so only streams wait.
  hangs: (_call, isStream) => (isStream ? SILENT : BROKEN),
  lies: inTurn(LIES),
} as const satisfies Record<string, Mood>;

export type MoodName = keyof typeof MOODS;
