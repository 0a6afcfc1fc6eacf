import {
  type ReceivedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../helper/stand-ins/scripted-provider.ts';
import type { Scope } from '../../helper/start/scope.ts';
import { BROKEN, FAILED_STREAM, failure, OUT_MS, SILENT, type Taken } from '../world/targets.ts';
import { type Arrival, type Bill, billOf, CALL_HEADER } from '../world/upstream.ts';

/** Ways in which a provider is dead; null for a call that it answers. With `refuses connections`, nobody listens. */
export const DEATHS = {
  'answers 503': () => failure(503, OUT_MS),
  'refuses connections': () => undefined,
  'hangs up': () => BROKEN,
  'fails before its content': (isStream) => (isStream ? FAILED_STREAM : failure(500, OUT_MS)),
  hangs: () => SILENT,
  'breaks off': (isStream) => BROKEN_OFF[isStream ? 'stream' : 'json'],
} as const satisfies Record<string, (isStream: boolean) => Taken | undefined>;

export type DeathName = keyof typeof DEATHS;

const BROKEN_OFF = {
  stream: { way: 'unsure', status: 200, outMs: undefined, behavior: { chunks: 4, breakAfter: 3 } },
  json: {
    way: 'unsure',
    status: 200,
    outMs: undefined,
    behavior: {
      headers: { 'content-type': 'application/json' },
      body: ['{"choices":[{"message":{"role":"assistant","content":"It '],
      breakAfter: 1,
    },
  },
} as const satisfies Record<string, Taken>;

const ANSWERS: Taken = { way: 'answers', status: 200, outMs: undefined, behavior: { chunks: 4 } };

/** A time in which a provider was dead, in milliseconds since the epoch. */
export interface Death {
  readonly of: SoakTarget;
  readonly name: DeathName;
  readonly from: number;
  to: number;
}

export type SoakTarget = 'first' | 'test';

/** A call at a provider; `bill` is what it reports if it answers. */
export interface SoakArrival extends Omit<Arrival, 'way'> {
  way: Arrival['way'];
  readonly bill: Bill;
  /** Its order among the arrivals at all providers, because `at` has only milliseconds. */
  readonly order: number;
}

let arrived = 0;

/** A provider that dies and comes back on demand. */
export class DyingProvider {
  readonly name: SoakTarget;
  readonly arrivals: SoakArrival[] = [];
  readonly deaths: Death[] = [];
  #provider: ScriptedProvider | undefined;
  #url = '';
  #death: Death | undefined;

  constructor(scope: Scope, name: SoakTarget) {
    this.name = name;
    scope.teardown(() => this.#provider?.close());
  }

  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    const port = this.#url ? Number(new URL(this.#url).port) : 0;
    const behave = (request: ReceivedRequest) => this.#answer(request);
    this.#provider = await startScriptedProvider({ port, record: false, behave });
    this.#url = this.#provider.url;
  }

  async die(name: DeathName): Promise<void> {
    this.#death = { of: this.name, name, from: Date.now(), to: Number.POSITIVE_INFINITY };
    this.deaths.push(this.#death);
    if (name === 'refuses connections') await this.#provider?.close();
  }

  async comeBack(): Promise<void> {
    const death = this.#death;
    if (death?.name === 'refuses connections') await this.start();
    this.#death = undefined;
    if (death) death.to = Date.now();
  }

  #answer({ headers, body, ended }: ReceivedRequest) {
    const call = Number(headers[CALL_HEADER]);
    const { model, stream } = JSON.parse(body.toString()) as { model: string; stream: boolean };
    const taken = (this.#death && DEATHS[this.#death.name](stream)) ?? ANSWERS;
    const { input, output } = billOf(call);
    // No two targets bill a call the same amount.
    const bill = { input: input + (this.name === 'first' ? 0 : 100), output };
    const arrival: SoakArrival = {
      call,
      target: this.name,
      model,
      at: Date.now(),
      way: taken.way,
      status: taken.status,
      outMs: taken.outMs,
      endingAt: undefined,
      bill,
      order: arrived++,
    };
    this.arrivals.push(arrival);
    void ended.then((how) => {
      // It died during the call.
      if (how === 'broken' && arrival.way === 'answers') arrival.way = 'unsure';
    });
    const usage = {
      prompt_tokens: bill.input,
      completion_tokens: bill.output,
      total_tokens: bill.input + bill.output,
    };
    return { usage, ...taken.behavior };
  }
}
