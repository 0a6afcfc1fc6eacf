import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderResource } from '../../book/resources.ts';
import { fullLimits } from '../../domain/call-limits.ts';
import { type Catalog, placesOf, targetName, type Upstream } from '../../domain/catalog.ts';
import { micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { type CompiledKey, modelRefusalOf } from '../../domain/rules.ts';
import { type AdmitParts, refusalBy } from '../admit.ts';
import type { Endpoint } from '../endpoints.ts';
import { setLimitHeaders } from '../limits.ts';
import type { CallMetrics, EndCode } from '../observers.ts';
import { resourceKind } from '../settle.ts';
import { ErrorFilter, shownError, unmeasured, withoutCredential } from '../upstream/credential.ts';
import { type AnswerSink, Exchange, type UpstreamAnswer } from '../upstream/exchange.ts';
import { failureOf, RequestTimeout, unforwardableStatus } from '../upstream/failure.ts';
import { fetchAnswer, send, type UpstreamRequest, type WholeAnswer } from '../upstream/fetch.ts';
import { clientHeaders, sourceOf, upstreamQuery } from '../upstream/headers.ts';
import type { UpstreamTransport } from '../upstream/transport.ts';
import type { ResourceOwnership } from './resource-ownership.ts';

export interface JobRouteParts extends AdmitParts {
  readonly catalog: () => Catalog;
  readonly ownership: ResourceOwnership;
  readonly refunds: { refund(accountId: number, chargeId: string): Promise<void> };
  readonly transport: UpstreamTransport;
  readonly metrics: CallMetrics;
  readonly requestTimeoutMs: number;
}

/** A job (such as a video) of the calling account, and its upstream. */
interface OwnJob {
  readonly resource: ProviderResource;
  readonly upstream: Upstream;
  /** The upstream's name of its model. */
  readonly upstreamModel: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The authorized key by its current record; null except on job routes. */
    callerKey: CompiledKey | null;
  }
}

export type JobFastifyRequest = FastifyRequest<{ Params: { id: string } }>;

/** A request for an existing job: its state, content or deletion. */
export class JobRequest {
  readonly #parts: JobRouteParts;
  readonly #endpoint: Endpoint;
  /** The route's path in metrics and logs. */
  readonly #label: string;
  readonly #request: JobFastifyRequest;
  readonly #reply: FastifyReply;
  readonly #startedAt = performance.now();
  #upstreamMs = 0;

  constructor(
    parts: JobRouteParts,
    route: { readonly endpoint: Endpoint; readonly label: string },
    request: JobFastifyRequest,
    reply: FastifyReply,
  ) {
    this.#parts = parts;
    this.#endpoint = route.endpoint;
    this.#label = route.label;
    this.#request = request;
    this.#reply = reply;
  }

  /**
   * Returns the job if the account owns it, the key may use its model and its limits have a request left (steps 2 to 4 in
   * routes.ts). Throws GatewayError.
   */
  async job(): Promise<OwnJob> {
    const { ownership, catalog } = this.#parts;
    const { callerKey, params } = this.#request;
    if (!callerKey) throw new Error('a job is asked for by nobody');
    const resource = await ownership.ownedBy(callerKey.key, resourceKind(this.#endpoint), params.id);
    const { category } = this.#endpoint;
    const refusal = modelRefusalOf(callerKey, { slug: resource.model, category });
    if (refusal) throw refusal;
    // The model may have left the catalog or moved to another upstream; the job stays where it was created.
    const places = [...placesOf(catalog())].filter(
      ({ upstream }) => targetName(upstream) === resource.upstream,
    );
    const place = places.find(({ slug }) => slug === resource.model) ?? places[0];
    if (place) {
      await this.#takeRequest(callerKey);
      return { resource, upstream: place.upstream, upstreamModel: place.upstreamModel };
    }
    throw new GatewayError(
      'object_not_found',
      'The provider of this job is no longer configured. Contact the operator of this gateway.',
    );
  }

  /** Takes a request from `rpm_limit` of key and account, so that jobs can't be polled without bound. */
  async #takeRequest({ key, limits }: CompiledKey): Promise<void> {
    if (!limits) return;
    const { ledger, metrics } = this.#parts;
    const { isTaken, limits: states } = await ledger.takeRequest(key.accountId, key.id);
    setLimitHeaders(this.#reply, this.#endpoint.format, states);
    if (isTaken) return;
    throw refusalBy(
      fullLimits(states, 0).filter(({ name }) => name === 'rpm_limit'),
      metrics,
    );
  }

  /** Fetches the upstream's whole answer. Throws the GatewayError for the client if it is unusable. */
  fetch(method: UpstreamRequest['method'], job: OwnJob): Promise<WholeAnswer> {
    return this.#fetch(this.#requestOf(method, job, ''));
  }

  /** Fetches the state of the job, if the client asked for something else. */
  state(job: OwnJob): Promise<WholeAnswer> {
    const { upstream, upstreamModel } = job;
    const endpoint = this.#endpoint.path;
    const path = `${endpoint}/${job.resource.id}`;
    return this.#fetch({
      upstream,
      upstreamModel,
      method: 'GET',
      path,
      endpoint,
      query: '',
      client: undefined,
    });
  }

  async #fetch(request: UpstreamRequest): Promise<WholeAnswer> {
    const { transport, requestTimeoutMs } = this.#parts;
    const exchange = this.#exchange();
    const sentAt = performance.now();
    const answer = await fetchAnswer(transport, request, exchange, requestTimeoutMs).catch((error: Error) => {
      throw failureOf(error, false)[0];
    });
    this.#upstreamMs += performance.now() - sentAt;
    const unfit = unforwardableStatus(answer.status);
    if (unfit && answer.status !== 304) throw unfit;
    return answer;
  }

  /** Refunds the charge of a failed job. Rejects if the refund is uncertain, so that the client retries. */
  async refundIfFailed({ resource }: OwnJob, answer: WholeAnswer): Promise<void> {
    if (!isGood(answer) || jsonOf(answer)?.status !== 'failed') return;
    await this.#parts.refunds.refund(resource.accountId, resource.chargeId);
  }

  /** Sends the upstream's answer. */
  answer({ upstream }: OwnJob, { status, headers, body: whole }: WholeAnswer): FastifyReply {
    // A failed job has the reason in the provider's words.
    const text = whole.toString('latin1');
    const shown = status < 400 ? withoutCredential(text, upstream) : shownError(text, upstream);
    const body = Buffer.from(shown, 'latin1');
    const reply = this.#reply;
    const own = {
      ...(status === 204 || status === 304 ? {} : { 'content-length': body.length }),
      ...sourceOf(status),
    };
    reply.hijack();
    reply.raw.writeHead(status, clientHeaders(headers, upstream, { reply: reply.getHeaders(), own }));
    reply.raw.end(body);
    this.#ended('ok');
    return reply;
  }

  /** Streams the upstream's answer for the job's path and `suffix`. Rejects with the refusal if it is unusable. */
  pass(job: OwnJob, suffix: string): Promise<FastifyReply> {
    const { transport, requestTimeoutMs } = this.#parts;
    const exchange = this.#exchange();
    const timer = setTimeout(() => exchange.cancel(new RequestTimeout()), requestTimeoutMs);
    const sentAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<FastifyReply>();
    const fail = (refusal: GatewayError) => {
      clearTimeout(timer);
      reject(refusal);
    };
    send(transport, this.#requestOf('GET', job, suffix), exchange, (error, answer) => {
      if (!answer) return fail(failureOf(error as Error, false)[0]);
      const unfit = answer.statusCode === 304 ? undefined : unforwardableStatus(answer.statusCode);
      if (unfit) {
        fail(unfit);
        exchange.cancel(unfit);
        return;
      }
      const { upstream } = job;
      const mayQuote = answer.statusCode >= 400;
      const head = mayQuote ? unmeasured(answer) : answer;
      const relay = new ContentRelay(this.#reply, exchange, head, upstream, (how) => {
        clearTimeout(timer);
        this.#upstreamMs = performance.now() - sentAt;
        this.#ended(how);
      });
      answer.body.pipe(mayQuote ? new ErrorFilter(relay, upstream) : relay);
      resolve(this.#reply);
    });
    return promise;
  }

  #requestOf(
    method: UpstreamRequest['method'],
    { resource, upstream, upstreamModel }: OwnJob,
    suffix: string,
  ): UpstreamRequest {
    const query = upstreamQuery(this.#request.url, this.#endpoint);
    const endpoint = this.#endpoint.path;
    const path = `${endpoint}/${resource.id}${suffix}`;
    const { accountId } = resource;
    // The client's request body is dropped.
    const client = { headers: this.#request.headers, accountId, contentType: undefined };
    return { upstream, upstreamModel, method, path, endpoint, query, client };
  }

  /** Creates an exchange that is cancelled when the client leaves. */
  #exchange(): Exchange {
    const exchange = new Exchange();
    const left = () => exchange.cancel(new Error('the client left'));
    if (this.#reply.raw.destroyed) left();
    this.#reply.raw.once('close', left);
    return exchange;
  }

  #ended(code: EndCode): void {
    const addedMs = performance.now() - this.#startedAt - this.#upstreamMs;
    this.#parts.metrics.ended(this.#label, code, this.#upstreamMs, addedMs, micro(0));
  }
}

export function isGood({ status }: WholeAnswer): boolean {
  return status >= 200 && status < 300;
}

export function isDeleted(answer: WholeAnswer): boolean {
  return isGood(answer) && (answer.body.length === 0 || jsonOf(answer)?.deleted === true);
}

function jsonOf({ body }: WholeAnswer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Outcome of relaying an answer. */
type Passed = 'ok' | 'client_left' | 'upstream_broke';

/** Relay for answers that are neither read nor charged, such as a finished video. Has back-pressure. */
class ContentRelay implements AnswerSink {
  readonly #raw: FastifyReply['raw'];
  readonly #ended: (how: Passed) => void;

  /** Takes over the reply from Fastify and writes the head. */
  constructor(
    reply: FastifyReply,
    exchange: Exchange,
    answer: UpstreamAnswer,
    upstream: Upstream,
    ended: (how: Passed) => void,
  ) {
    this.#raw = reply.raw;
    this.#ended = ended;
    const length = answer.headers['content-length'];
    const own = {
      ...(typeof length === 'string' ? { 'content-length': length } : {}),
      ...sourceOf(answer.statusCode),
    };
    reply.hijack();
    const isBytes = answer.statusCode < 400;
    const head = clientHeaders(answer.headers, upstream, { reply: reply.getHeaders(), own, isBytes });
    this.#raw.writeHead(answer.statusCode, head);
    this.#raw.on('drain', () => exchange.resume());
  }

  data(chunk: Buffer): boolean {
    return this.#raw.write(chunk);
  }

  end(): void {
    this.#ended('ok');
    this.#raw.end();
  }

  /** Destroys the client's connection. Also called when the exchange is cancelled because the client left. */
  error(): void {
    this.#ended(this.#raw.destroyed ? 'client_left' : 'upstream_broke');
    this.#raw.destroy();
  }
}
