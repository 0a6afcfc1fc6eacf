import type { FastifyRequest } from 'fastify';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import type { ErrorCode, GatewayError } from '../../domain/errors.ts';
import { type RefusedCall, recorded, recordedUserAgent } from '../../domain/refused-call.ts';
import { CALLER_CHECKS } from '../../domain/rules.ts';
import type { AdmittedCall } from '../call.ts';
import { answeredRefusal } from '../codex.ts';
import type { Endpoint } from '../endpoints.ts';
import type { Gatekeeper } from '../gatekeeper.ts';
import type { Ending } from '../settle.ts';
import type { CallLine, CallLog } from './call-log.ts';
import type { RefusalWriter } from './refusal-writer.ts';

interface RecorderParts {
  readonly gatekeeper: Pick<Gatekeeper, 'ownerOf'>;
  readonly catalog: () => Catalog;
  readonly refusals: Pick<RefusalWriter, 'note' | 'countRepeated'>;
  readonly log: CallLog;
  readonly keyPrefix: string;
}

/** End of a refused call, as the client got it. */
type Refusal = Pick<RefusedCall, 'status' | 'message' | 'param' | 'detail'>;

/** Records the outcome of model calls, including refused ones (specification section 14). */
export class CallRecorder {
  readonly #parts: RecorderParts;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Records a call refused before it reached an upstream, under the key that it presents. Never rejects. */
  refused(request: FastifyRequest, endpoint: Endpoint, error: GatewayError): void {
    const { code } = error;
    const refusal = (): Refusal => {
      const { param, facts: detail = null } = error;
      const { message, statusCode: status } = answeredRefusal(error, request);
      return { status, message, param, detail };
    };
    const owner = request.call?.compiled.key;
    if (owner) this.#refused(request, endpoint, code, refusal, owner);
    else {
      void this.#parts.gatekeeper
        .ownerOf(request, error)
        .then((found) => this.#refused(request, endpoint, code, refusal, found));
    }
  }

  /** `refusal` is only called if it is recorded; a flood is only counted. */
  #refused(
    { id, call, headers }: FastifyRequest,
    { path }: Endpoint,
    code: ErrorCode,
    refusal: () => Refusal,
    owner: { readonly id: number; readonly accountId: number } | undefined,
  ): void {
    const { log, refusals, catalog, keyPrefix } = this.#parts;
    const durationMs = call ? Math.round(performance.now() - call.startedAt) : 0;
    const { model, isStream } = (!BEFORE_THE_BODY.has(code) && call?.requested) || NOT_READ;
    const known = model === null ? undefined : modelOf(catalog(), model);
    const name = known?.slug ?? model;
    const line = (): CallLine => ({
      reqId: id,
      accountId: owner?.accountId ?? null,
      keyId: owner?.id ?? null,
      model: name,
      endpoint: path,
      status: refusal().status,
      code,
      upstream: null,
      upstreamStatus: null,
      ms: durationMs,
    });
    log.refused(owner?.accountId ?? null, code, () => recorded(line(), keyPrefix));
    if (!owner) return;
    const createdAt = Date.now() - durationMs;
    if (refusals.countRepeated({ keyId: owner.id, code, createdAt })) return;
    const record: RefusedCall = {
      ...refusal(),
      code,
      id,
      accountId: owner.accountId,
      keyId: owner.id,
      createdAt,
      model: name,
      category: known?.category ?? null,
      endpoint: path,
      streamed: isStream,
      durationMs,
      userAgent: recordedUserAgent(headers['user-agent']),
    };
    refusals.note(recorded(record, keyPrefix));
  }

  /** Logs a settled call; the ledger has its record. */
  ended({ requestId, compiled, facts, endpoint, startedAt, attempts }: AdmittedCall, ending: Ending): void {
    const { log } = this.#parts;
    const { outcome, status, error } = ending;
    if (outcome === 'complete' && !log.hasAll) return;
    const upstreamStatus = attempts.at(-1)?.status ?? null;
    const line: CallLine = {
      reqId: requestId,
      accountId: compiled.key.accountId,
      keyId: compiled.key.id,
      model: facts.model.slug,
      endpoint: endpoint.path,
      status,
      code: error?.code ?? null,
      upstream: facts.model.upstream.name,
      upstreamStatus,
      ms: Math.round(performance.now() - startedAt),
    };
    if (outcome === 'complete') log.completed(line);
    else log.failed(line, outcome !== 'client_left' && isProviders(upstreamStatus));
  }
}

/**
 * Codes of checks 1 to 8, which precede the body. With a cached record the body may be read first; the records of equal
 * calls must not differ by that.
 */
const BEFORE_THE_BODY: ReadonlySet<ErrorCode> = new Set([
  'missing_api_key',
  'invalid_api_key',
  ...CALLER_CHECKS.map(({ code }) => code),
]);

const NOT_READ = { model: null, isStream: null } as const;

/** Whether a provider's status means that it failed or refused the gateway's credential; null: no answer. */
function isProviders(status: number | null): boolean {
  return status === null || status >= 500 || status === 401 || status === 403;
}
