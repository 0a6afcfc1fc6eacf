import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { AuditedChange, BookAudit } from '../../book/audit.ts';
import type { Actor } from '../../domain/actor.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';

/** Refused changes of an actor within a minute that have an entry each; the rest share one. */
const MOST_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Actors remembered; one that is forgotten may get twenty entries more. */
const MOST_ACTORS = 10_000;

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
const NOTED = new Set([403, 409]);

interface Minute {
  count: number;
  /** The last refusal of the rest. */
  rest: AuditedChange | undefined;
  end: NodeJS.Timeout;
}

/** Records changes that were refused (403, 409) in the audit log, and no more of them than a reader can read. */
export class RefusedChanges {
  readonly #book: Pick<BookAudit, 'audit'>;
  readonly #log: Log;
  readonly #minutes = new LRUCache<string, Minute>({
    max: MOST_ACTORS,
    dispose: (minute) => void this.#finish(minute),
  });

  constructor({ book, log }: { readonly book: Pick<BookAudit, 'audit'>; readonly log: Log }) {
    this.#book = book;
    this.#log = log;
  }

  /** Notes a failed request if it was a change of a known actor. Resolves when it is recorded; never rejects. */
  async note(request: FastifyRequest, error: unknown): Promise<void> {
    const { actor, method, routeOptions } = request;
    if (!actor || SAFE.has(method)) return;
    if (!(error instanceof GatewayError) || !NOTED.has(error.statusCode)) return;
    // An entry of its own says so already.
    if (error.code === 'invalid_credentials') return;
    await this.add({
      by: actor,
      action: 'request.refuse',
      accountId: request.accountOfActor ?? null,
      target: { type: 'route', id: `${method} ${routeOptions.url}` },
      after: { code: error.code },
    });
  }

  /** Records a refusal, or counts it. */
  async add(refusal: AuditedChange): Promise<void> {
    const name = nameOf(refusal.by);
    const minute = this.#minutes.get(name) ?? this.#begin(name);
    minute.count++;
    if (minute.count > MOST_A_MINUTE) minute.rest = refusal;
    else await this.#write(refusal);
  }

  /** Records what is still counted. */
  stop(): void {
    this.#minutes.clear();
  }

  #begin(name: string): Minute {
    const end = setTimeout(() => this.#minutes.delete(name), MINUTE_MS).unref();
    const minute = { count: 0, rest: undefined, end };
    this.#minutes.set(name, minute);
    return minute;
  }

  async #finish({ count, rest, end }: Minute): Promise<void> {
    clearTimeout(end);
    if (rest) await this.#write({ ...rest, after: { ...rest.after, count: count - MOST_A_MINUTE } });
  }

  async #write(refusal: AuditedChange): Promise<void> {
    try {
      await this.#book.audit(refusal, Date.now());
    } catch (error) {
      this.#log.warn({ err: error }, 'a refusal is missing in the audit log');
    }
  }
}

/** An actor without an id counts by its address. */
function nameOf({ type, id, ip }: Actor): string {
  return `${type} ${id ?? ip}`;
}
