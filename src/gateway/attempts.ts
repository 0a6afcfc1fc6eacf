import type { FastifyRequest } from 'fastify';
import type { Model, Target } from '../domain/catalog.ts';
import { turnTo } from './call.ts';
import type { ClientResponse } from './response/client-response.ts';
import { receive } from './response/receive.ts';
import { type AttemptFailure, type FailureKind, OpenAttempt } from './targets/open-attempt.ts';
import { affinityOf, type Conversation, orderOf, outOf, pinnedTarget, targetKey } from './targets/order.ts';
import type { TargetHealth } from './targets/target-health.ts';
import { Exchange } from './upstream/exchange.ts';
import { send } from './upstream/send.ts';
import type { UpstreamTransport } from './upstream/transport.ts';

/** Cancel reason: the call moved to another target. */
const MOVED = new Error('the call moved to another target');

/**
 * The attempts of an admitted call at the targets of its model, one after the other (failover, specification section
 * 12). A call goes on only while the client has seen nothing of an answer and the target can't have billed.
 */
export class Attempts {
  readonly #request: FastifyRequest;
  readonly #response: ClientResponse;
  readonly #transport: UpstreamTransport;
  readonly #route: Route;
  /** Most targets that this call can have. */
  readonly #most: number;

  constructor(request: FastifyRequest, response: ClientResponse, transport: UpstreamTransport) {
    this.#request = request;
    this.#response = response;
    this.#transport = transport;
    this.#route = routeOf(request, response);
    const { order, out } = this.#route;
    this.#most = Math.min(order.length + out.length, response.context.targets.attempts);
  }

  /**
   * Sends the call until the client gets an answer. After the last target, it gets the last provider's error. Resolves
   * when the answer has begun; the ClientResponse settles the call.
   */
  async run(): Promise<void> {
    const models = inTurn(this.#route, this.#response.context.targets.health);
    let model: Model | undefined = models.next().value;
    let isRepeat = false;
    let lastError: Failed | undefined;
    for (let failed = 0; model; ) {
      const attempt = this.#begin(model, failed === 0, isRepeat);
      const outcome = await attempt.outcome;
      if (outcome === 'answered' || this.#response.isOver) return;
      isRepeat = outcome === 'repeat';
      if (outcome !== 'repeat') {
        failed++;
        model = failed < this.#most && this.#mayGoOn(outcome.kind) ? models.next().value : undefined;
        if (!model) this.#show(outcome.kind === 'unsent' && lastError ? lastError : { attempt, outcome });
        else if (outcome.kind === 'answered') lastError = { attempt, outcome };
      }
      if (model) attempt.exchange.cancel(MOVED);
    }
  }

  #begin(model: Model, isFirst: boolean, isRepeat: boolean): OpenAttempt {
    const response = this.#response;
    const { call, context, raw } = response;
    const { health, lastTargets, streamUsage } = context.targets;
    const { accountId } = call.compiled.key;
    turnTo(call, model, !isRepeat && streamUsage.asks(model.upstream));
    const exchange = new Exchange({
      // A client that reads is not broken off if something else, such as a decoder, asks for a pause.
      paused: () => {
        if (raw.socket?.writableNeedDrain && !call.memory.unread()) raw.destroy();
      },
      resumed: () => call.memory.read(),
    });
    exchange.headersTimeoutMs = this.#headersTimeoutMs(isFirst);
    const attempt = new OpenAttempt(model, exchange, health.begin(model, accountId), () => {
      const { conversation } = this.#route;
      if (conversation) lastTargets.note(conversation, targetKey(model));
    });
    call.attempts.push(attempt);
    response.attempt = attempt;
    response.relay = undefined;
    exchange.answered = (error, answer) => {
      if (response.isOver) return;
      if (!answer) {
        attempt.failed(response.noAnswer(error as Error, attempt));
        return;
      }
      // Proven only now: a refusal may quote the words of the request.
      if (isRepeat && answer.statusCode < 300) streamUsage.refused(model.upstream);
      receive(answer, response, attempt);
    };
    try {
      send(this.#request, response, exchange, this.#transport);
    } catch (error) {
      exchange.cancel(error as Error);
    }
    return attempt;
  }

  /**
   * Maximum wait for the head of an answer: 0 for no bound but the call's own, undefined for that of the connections. A
   * whole answer begins when the model has finished, which may be as late as the call may last.
   */
  #headersTimeoutMs(isFirst: boolean): number | undefined {
    const { call, context, sentAt } = this.#response;
    const { isStream } = call.facts;
    const wholeMs = isStream ? context.headersTimeoutMs : context.requestTimeoutMs;
    if (this.#most > 1 && context.targets.retryUncertain) return Math.ceil(wholeMs / this.#most);
    if (!isStream) return 0;
    return isFirst ? undefined : Math.max(1, wholeMs - (performance.now() - sentAt));
  }

  #mayGoOn(kind: FailureKind): boolean {
    const { call, context, hasLeft, isTimeUp } = this.#response;
    if (hasLeft || isTimeUp || kind === 'final') return false;
    if (call.endpoint.makesJob) return kind === 'unsent';
    return kind !== 'uncertain' || context.targets.retryUncertain;
  }

  #show({ attempt, outcome }: Failed): void {
    const { call } = this.#response;
    this.#response.attempt = attempt;
    call.facts = { ...call.facts, model: attempt.model };
    outcome.show();
  }
}

interface Failed {
  readonly attempt: OpenAttempt;
  readonly outcome: AttemptFailure;
}

/** The call's model at each of its possible targets. */
interface Route {
  /** Those that are up, in order. */
  readonly order: readonly Model[];
  /** Those that are out, by the time they come back. */
  readonly out: readonly Model[];
  /** The call's conversation, if its model has several targets. */
  readonly conversation?: Conversation;
}

function routeOf({ headers }: FastifyRequest, { call, context }: ClientResponse): Route {
  const { facts, compiled, quote } = call;
  const { targets, isPinned } = quote;
  if (!targets) return { order: [facts.model], out: [] };
  const { health, lastTargets, secret } = context.targets;
  const affinity = affinityOf(facts.scalars, headers, compiled.key.id, secret);
  const { id, accountId } = compiled.key;
  const conversation = { accountId, name: `${id} ${facts.model.slug} ${affinity}` };
  if (isPinned) {
    const { model } = pinnedTarget(targets, affinity, lastTargets.of(conversation));
    return { order: [model], out: [], conversation };
  }
  const availability = ({ model }: Target) => health.availability(model);
  const order = orderOf(targets, affinity, availability);
  return { order: order.map(modelOf), out: outOf(targets, availability).map(modelOf), conversation };
}

const modelOf = ({ model }: Target): Model => model;

/**
 * Yields the targets to be tried. Each may have gone out since the call came, or come back. With all out, the one that
 * comes back first is tried, and no other after it.
 */
function* inTurn({ order, out }: Route, health: TargetHealth): Generator<Model, undefined> {
  yield order[0] as Model;
  let left = [...order.slice(1), ...out];
  const backAt = (model: Model) => health.availability(model).outUntil;
  while (left.length > 0) {
    const up = left.find((model) => health.availability(model).isAvailable);
    const next = up ?? left.toSorted((a, b) => backAt(a) - backAt(b))[0];
    yield next as Model;
    if (!up) return;
    left = left.filter((model) => model !== next);
  }
}
