import {
  type Behaviour,
  type ReceivedRequest,
  startScriptedProvider,
} from '../../helper/stand-ins/scripted-provider.ts';
import type { Scope } from '../../helper/start/scope.ts';

/** Headers with the number of a call and how to answer it, which the gateway passes on. */
export const CALL_HEADER = 'x-torture-call';
export const BEHAVIOUR_HEADER = 'x-torture-behaviour';

export interface Upstream {
  readonly url: string;
  /**
   * Number of times that each call reached a target which may have billed it, by the number in CALL_HEADER; 1 for a call that only
   * reached the first one.
   */
  readonly reached: ReadonlyMap<number, number>;
  /** Times of each call that reached it, by the number in CALL_HEADER. */
  readonly visits: ReadonlyMap<number, Visit>;
}

/** Path of the target that every call is sent to first, and that fails so that the call goes on at the upstream itself. */
export const FIRST_TARGET = '/first';

const SOON = { 'retry-after-ms': '1' };
const FAILED_STREAM = [
  'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n',
  'data: {"error":{"message":"The first target failed."}}\n\n',
];
/** Ways in which the first target fails, by turns. The stream is an error to calls without one, too. */
const FAILURES: readonly Behaviour[] = [
  // Not 503: where the other target is out too, this is the client's answer, and the checker takes a 503 for the gateway's own.
  { status: 500, headers: SOON, body: { error: { message: 'Out of order.' } } },
  { status: 429, headers: SOON, body: { error: { message: 'Slow down.' } } },
  { status: 200, headers: { 'content-type': 'text/event-stream' }, body: FAILED_STREAM },
];

/** Tokens that the upstream reports of a call. */
export interface Bill {
  readonly input: number;
  readonly output: number;
}

/**
 * The bill of a call, which no other of the first 3,000 has, so that a row can be told by it. Within what a call of calls.ts
 * holds.
 */
export function billOf(call: number): Bill {
  return { input: 20 + (call % 60), output: 1 + (Math.floor(call / 60) % 50) };
}

/** A call at the upstream. Times in milliseconds since the epoch. */
export interface Visit {
  readonly arrivedAt: number;
  /** Time until which surely nothing of the end of the answer was written; undefined where it came never so far. */
  endingAt: number | undefined;
  /** Time at which all of the answer was written; undefined where it never was. */
  answeredAt: number | undefined;
  /** What the upstream billed; undefined where it did not answer whole, or refused. */
  bill: Bill | undefined;
}

/**
 * Starts the demo provider as an upstream that counts calls. `onFailpoint` is called when a call came or was answered,
 * with its gateway, which is known by the credential.
 */
export async function startUpstream(
  scope: Scope,
  onFailpoint: (point: 'asked' | 'answered', credential: string) => void,
): Promise<Upstream> {
  const reached = new Map<number, number>();
  const visits = new Map<number, Visit>();
  /** Calls that the first target has refused, and that have not been sent on. */
  const refused = new Set<number>();
  const behave = ({ headers, ended, url }: ReceivedRequest): Behaviour | undefined => {
    const call = Number(headers[CALL_HEADER]);
    const wasRefused = refused.delete(call);
    reached.set(call, (reached.get(call) ?? 0) + (wasRefused ? 0 : 1));
    // Of a call that was sent on, the times and the bill are those of the upstream itself, from its first arrival on.
    const visit: Visit = (wasRefused ? visits.get(call) : undefined) ?? {
      arrivedAt: Date.now(),
      endingAt: undefined,
      answeredAt: undefined,
      bill: undefined,
    };
    if (!visits.has(call)) visits.set(call, visit);
    const credential = String(headers.authorization).replace('Bearer ', '');
    onFailpoint('asked', credential);
    const onEnding = () => {
      visit.endingAt ??= Date.now();
    };
    if (url.startsWith(FIRST_TARGET)) {
      // A second time there would count as a second time at the upstream.
      if (!wasRefused) refused.add(call);
      // A call whose client left meanwhile is not sent on, so it may end with this failure.
      return { ...FAILURES[call % FAILURES.length], onEnding };
    }
    visit.endingAt = undefined;
    const told = headers[BEHAVIOUR_HEADER];
    const behaviour = typeof told === 'string' ? (JSON.parse(told) as Behaviour) : {};
    const bill = billOf(call);
    void ended.then((how) => {
      if (how !== 'answered') return;
      visit.answeredAt = Date.now();
      if ((behaviour.status ?? 200) === 200) visit.bill = bill;
      onFailpoint('answered', credential);
    });
    const usage = {
      prompt_tokens: bill.input,
      completion_tokens: bill.output,
      total_tokens: bill.input + bill.output,
    };
    return { usage, ...behaviour, onEnding };
  };
  const provider = await startScriptedProvider({ behave, record: false });
  scope.teardown(() => provider.close());
  return { url: provider.url, reached, visits };
}
