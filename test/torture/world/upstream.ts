import {
  type Behavior,
  type ReceivedRequest,
  startScriptedProvider,
} from '../../helper/stand-ins/scripted-provider.ts';
import type { Scope } from '../../helper/start/scope.ts';
import { MOODS, type MoodName, OUT_MS, type Taken, type TargetName } from './targets.ts';

/** Headers with the number of a call and its behavior, which the gateway passes on. */
export const CALL_HEADER = 'x-torture-call';
export const BEHAVIOR_HEADER = 'x-torture-behavior';

export interface Upstream {
  /** Addresses of the targets at which somebody listens. */
  readonly urls: Readonly<Record<TargetName, string>>;
  /**
   * Number of times that each call reached a target that may have billed it, by the number in CALL_HEADER; 1 for a call
   * that reached only a failing target.
   */
  readonly reached: ReadonlyMap<number, number>;
  /** Times of each call that reached a target, by the number in CALL_HEADER. */
  readonly visits: ReadonlyMap<number, Visit>;
  /** Calls at targets, in the order of their arrival. */
  readonly arrivals: readonly Arrival[];
  /** Changes what the first target does with calls that arrive from now on. */
  firstIs(mood: MoodName): void;
}

/** Tokens that the upstream reports of a call. */
export interface Bill {
  readonly input: number;
  readonly output: number;
}

/**
 * The bill of a call, unique among the first 3,000, so that it identifies a row. Within the hold of a call of calls.ts.
 */
export function billOf(call: number): Bill {
  return { input: 20 + (call % 60), output: 1 + (Math.floor(call / 60) % 50) };
}

/** A call at the targets, one after the other. Times in milliseconds since the epoch. */
export interface Visit {
  /** Time at which it arrived at the first of them. */
  readonly arrivedAt: number;
  /**
   * Time until which certainly nothing of the end of the last target's answer was written; undefined if it never came
   * that far.
   */
  endingAt: number | undefined;
  /** Time at which the whole answer was written; undefined if it never was. */
  answeredAt: number | undefined;
  /** The upstream's bill; undefined if its answer was incomplete or a refusal. */
  bill: Bill | undefined;
}

/** A call at one target. Times in milliseconds since the epoch. */
export interface Arrival extends Pick<Taken, 'way' | 'status' | 'outMs'> {
  readonly call: number;
  readonly target: TargetName;
  readonly model: string;
  readonly at: number;
  /** As of Visit. */
  endingAt: number | undefined;
}

/** Content of the body of a call of calls.ts. */
interface Told {
  readonly model: string;
  readonly stream: boolean;
}

/**
 * Starts the demo provider as the targets of all models, which count calls. Calls `onFailpoint` at the arrival and the
 * answer of a call, with its gateway, identified by the credential.
 */
export async function startUpstream(
  scope: Scope,
  onFailpoint: (point: 'asked' | 'answered', credential: string) => void,
): Promise<Upstream> {
  const reached = new Map<number, number>();
  /** Number of times that each call reached a target which may have billed it. */
  const billing = new Map<number, number>();
  const visits = new Map<number, Visit>();
  const arrivals: Arrival[] = [];
  let mood: MoodName = 'fails';
  const takenBy = (target: TargetName, call: number, { stream }: Told, told: Behavior): Taken =>
    (target === 'first' ? MOODS[mood](call, stream) : undefined) ?? takenAs(told);
  const behaveAt = (target: TargetName) => (request: ReceivedRequest) => {
    const { headers, body, ended } = request;
    const call = Number(headers[CALL_HEADER]);
    const before = visits.get(call);
    const visit: Visit = before ?? {
      arrivedAt: Date.now(),
      endingAt: undefined,
      answeredAt: undefined,
      bill: undefined,
    };
    visits.set(call, visit);
    visit.endingAt = undefined;
    const credential = String(headers.authorization).replace('Bearer ', '');
    onFailpoint('asked', credential);
    const said = JSON.parse(body.toString()) as Told;
    const text = headers[BEHAVIOR_HEADER];
    const told = typeof text === 'string' ? (JSON.parse(text) as Behavior) : {};
    const { way, status, outMs, behavior } = takenBy(target, call, said, told);
    if (way !== 'fails') billing.set(call, (billing.get(call) ?? 0) + 1);
    reached.set(call, Math.max(1, billing.get(call) ?? 0));
    const at = Date.now();
    const arrival: Arrival = { call, target, model: said.model, at, way, status, outMs, endingAt: undefined };
    arrivals.push(arrival);
    const onEnding = () => {
      arrival.endingAt ??= Date.now();
      // A gateway doesn't pass on an abandoned call, so it may end with the failure of this target.
      visit.endingAt ??= arrival.endingAt;
    };
    if (way === 'fails') return { ...behavior, onEnding };
    const bill = billOf(call);
    void ended.then((how) => {
      if (how !== 'answered') return;
      visit.answeredAt = Date.now();
      if (way === 'answers') visit.bill = bill;
      onFailpoint('answered', credential);
    });
    const usage = {
      prompt_tokens: bill.input,
      completion_tokens: bill.output,
      total_tokens: bill.input + bill.output,
    };
    return { usage, ...behavior, onEnding };
  };
  const start = async (target: TargetName) => {
    const provider = await startScriptedProvider({ behave: behaveAt(target), record: false });
    scope.teardown(() => provider.close());
    return provider.url;
  };
  const urls = { first: await start('first'), test: await start('test') };
  return {
    urls,
    reached,
    visits,
    arrivals,
    firstIs(name) {
      mood = name;
    },
  };
}

/** Behavior of a target for a call that names its own behavior. */
function takenAs(told: Behavior): Taken {
  const { status = 200, breakAfter, stallAfter } = told;
  const isHeadless = breakAfter === 'nothing' || stallAfter === 'nothing';
  if (isHeadless) return { way: 'unsure', status: null, outMs: OUT_MS, behavior: told };
  if (breakAfter !== undefined || stallAfter !== undefined)
    return { way: 'unsure', status, outMs: undefined, behavior: told };
  return status === 200
    ? { way: 'answers', status, outMs: undefined, behavior: told }
    : { way: 'fails', status, outMs: OUT_MS, behavior: told };
}
