import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderResource } from '../../book/resources.ts';
import { fullLimits } from '../../domain/call-limits.ts';
import { type Catalog, placesOf, targetName, type Upstream } from '../../domain/catalog.ts';
import { micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { type CompiledKey, modelRefusalOf } from '../../domain/rules.ts';
import { parseAnswer } from '../../metering/answer.ts';
import { isObject } from '../../metering/json/value.ts';
import { type AdmitParts, refusalBy } from '../admit.ts';
import type { Endpoint } from '../endpoints.ts';
import { setLimitHeaders } from '../limits.ts';
import type { CallMetrics, EndCode } from '../observers.ts';
import { resourceKind } from '../settle.ts';
import { shownError, withoutCredential } from '../upstream/credential.ts';
import { failureOf, RequestTimeout, unforwardableStatus } from '../upstream/failure.ts';
import {
  destinationOf,
  fetchAnswer,
  type StreamedAnswer,
  type UpstreamRequest,
  type WholeAnswer,
  wholeAnswer,
} from '../upstream/fetch.ts';
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
export interface OwnJob {
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

/** An answer of which the head has come. */
export interface UpstreamFile {
  readonly statusCode: number;
  readonly headers: StreamedAnswer['headers'];
  readonly stream: Readable;
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
    if (!callerKey) throw new Error('job route without an authorized key');
    const resource = await ownership.ownedBy(callerKey.key, resourceKind(this.#endpoint), params.id);
    const { category, format } = this.#endpoint;
    const refusal = modelRefusalOf(callerKey, { slug: resource.model, category });
    if (refusal) throw refusal;
    // The model may have left the catalog or moved to another upstream; the job stays where it was created.
    const places = [...placesOf(catalog())].filter(
      ({ upstream }) => upstream.format === format && targetName(upstream) === resource.upstream,
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
    return this.#whole(this.#requestOf(method, job, ''));
  }

  /** Fetches the state of the job, if the client asked for something else. */
  state(job: OwnJob): Promise<WholeAnswer> {
    return this.#whole({ ...this.#requestOf('GET', job, ''), query: '', client: undefined });
  }

  #whole(request: UpstreamRequest): Promise<WholeAnswer> {
    return this.#within((signal) => this.#ask(request, signal).then(wholeAnswer));
  }

  /** The head of the upstream's answer, if it is usable. */
  async #ask(request: UpstreamRequest, signal: AbortSignal): Promise<StreamedAnswer> {
    const answer = await fetchAnswer(this.#parts.transport, request, signal);
    const refusal = answer.statusCode === 304 ? undefined : unforwardableStatus(answer.statusCode);
    if (!refusal) return answer;
    answer.body.destroy();
    throw refusal;
  }

  /**
   * Runs work with the upstream, and counts its time. The signal ends it when it takes too long or the client leaves.
   * Throws the GatewayError for the client.
   */
  async #within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { raw } = this.#reply;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new RequestTimeout()), this.#parts.requestTimeoutMs);
    const left = () => abort.abort(new ClientLeft());
    if (raw.destroyed) left();
    raw.once('close', left);
    const sentAt = performance.now();
    try {
      return await work(abort.signal);
    } catch (error) {
      throw error instanceof GatewayError ? error : failureOf(error as Error, false)[0];
    } finally {
      clearTimeout(timer);
      raw.off('close', left);
      this.#upstreamMs += performance.now() - sentAt;
    }
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

  /** Where the content of the job is. */
  destination(job: OwnJob): ReturnType<typeof destinationOf> {
    return destinationOf(this.#requestOf('GET', job, '/content'));
  }

  /** Streams the content on its way, with back-pressure, or refuses it as its status says. Never throws. */
  pass(job: OwnJob, { statusCode, headers, stream }: UpstreamFile): void {
    const reply = this.#reply;
    const refusal = statusCode === 304 ? undefined : unforwardableStatus(statusCode);
    if (refusal) {
      stream.destroy();
      reply.send(refusal);
    } else if (statusCode >= 400) {
      // An error may quote the credential.
      wholeAnswer({ statusCode, headers, body: stream }).then(
        (whole) => this.answer(job, whole),
        (error: Error) => reply.send(failureOf(error, false)[0]),
      );
    } else {
      const length = headers['content-length'];
      const own = typeof length === 'string' ? { 'content-length': length } : {};
      const shown = clientHeaders(headers, job.upstream, { reply: {}, own, isBytes: true });
      for (let at = 0; at < shown.length; at += 2) reply.header(shown[at] as string, shown[at + 1]);
      const sentAt = performance.now();
      reply.raw.once('close', () => {
        this.#upstreamMs += performance.now() - sentAt;
        this.#ended(reply.raw.writableFinished ? 'ok' : stream.errored ? 'upstream_broke' : 'client_left');
      });
      reply.send(stream);
    }
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
  const value = parseAnswer(body.toString('utf8'));
  return isObject(value) ? value : undefined;
}

class ClientLeft extends Error {}
