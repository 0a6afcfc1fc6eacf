import type { Book, StoredObject } from '../../book/book.ts';
import { keptObjects } from '../../book/objects.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { KeyRecord } from '../../domain/key.ts';
import type { Usage } from '../../domain/ledger-entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Log } from '../../log/log.ts';
import { isObjectId } from '../../metering/object-id.ts';
import type { Call } from '../call.ts';
import type { CallBody } from '../request/call-body.ts';
import { keptBy } from '../settle.ts';

/** An answer waits no longer than this for the book to note what was made. */
const REMEMBER_WITHIN_MS = 2_000;
/** More ids than a request can name in earnest. */
const MAX_NAMED = 10_000;

/** Which account what upstreams keep belongs to (specification section 4): for any other account it does not exist. */
export class Objects {
  readonly #book: Book;
  readonly #log: Log;
  readonly #ledger: Pick<Ledger, 'flush'>;
  readonly #contextTokens: number;

  constructor(options: { book: Book; log: Log; ledger: Pick<Ledger, 'flush'>; contextTokens: number }) {
    this.#ledger = options.ledger;
    this.#book = options.book;
    this.#log = options.log;
    this.#contextTokens = options.contextTokens;
  }

  /**
   * Tokens that stand behind the ids that a request names, each with the member in which it does. Throws 404 `object_not_found` where one of them is not the
   * account's own at the upstream of the model, whoever's it is; BookUnavailable where that cannot be found out.
   */
  async tokensBehind(
    named: ReadonlyMap<string, string>,
    body: CallBody,
    { accountId }: Pick<KeyRecord, 'accountId'>,
  ): Promise<number> {
    if (named.size > MAX_NAMED)
      throw new GatewayError('invalid_request', 'The request names too many objects.');
    // PostgreSQL takes no U+0000, so that no such id can have been noted.
    const known = [...named.keys()].filter((id) => !id.includes('\0'));
    const byId = await this.#named(accountId, body.model.upstream.name, known);
    let tokens = 0;
    for (const [id, member] of named) {
      const object = byId.get(id);
      if (!object) {
        throw new GatewayError(
          'object_not_found',
          `There is no ${JSON.stringify(id.slice(0, 100))} of this account. Only what was made with this account, at the ` +
            'provider of the same model, can be named.',
          member.slice(0, 100),
        );
      }
      tokens += object.tokens ?? this.#contextTokens;
    }
    return tokens;
  }

  /**
   * The account's own of that kind. Throws 404 `object_not_found` where it has none, whoever else has; BookUnavailable
   * where that cannot be found out.
   */
  async owned({ accountId }: Pick<KeyRecord, 'accountId'>, kind: string, id: string): Promise<StoredObject> {
    const found = isObjectId(id) ? await this.#find(accountId, kind, id) : undefined;
    if (found) return found;
    throw new GatewayError(
      'object_not_found',
      `There is no ${JSON.stringify(id.slice(0, 100))} of this account. Only what was made with this account can be asked for.`,
    );
  }

  /** Where the book was away as an answer went out, what it made comes with its charge: the journal may still have it. */
  async #named(
    accountId: number,
    upstream: string,
    ids: readonly string[],
  ): Promise<Map<string, StoredObject>> {
    const find = async () => {
      const found = await this.#book.objects(accountId, upstream, ids);
      return new Map(found.map((object) => [object.id, object]));
    };
    const byId = await find();
    if (byId.size === new Set(ids).size) return byId;
    await this.#ledger.flush(accountId);
    return await find();
  }

  /** The same for a job. */
  async #find(accountId: number, kind: string, id: string): Promise<StoredObject | undefined> {
    const found = await this.#book.object(accountId, kind, id);
    if (found) return found;
    await this.#ledger.flush(accountId);
    return await this.#book.object(accountId, kind, id);
  }

  /** It was deleted at its upstream. Never rejects: what the book still has then is answered by the upstream, with 404. */
  async forget(object: StoredObject): Promise<void> {
    try {
      await this.#book.forgetObject(object, Date.now());
    } catch (error) {
      this.#log.warn({ err: error, object: object.id }, 'what an upstream deleted could not be forgotten');
    }
  }

  /**
   * Notes what the upstream keeps of an answer; resolves when that is durable, and never rejects: an answer is not
   * withheld because the book is away. What could not be noted comes with the charge (see settle.ts).
   * `usage` undefined: not reported.
   */
  async remember(call: Call, ids: readonly string[], usage: Usage | undefined): Promise<void> {
    const { body, compiled } = call;
    if (!body) return;
    const objects = keptObjects(keptBy(call.endpoint, body, ids, usage), {
      accountId: compiled.key.accountId,
      keyId: compiled.key.id,
      model: body.model.slug,
      createdAt: Date.now(),
      chargeId: call.requestId,
    });
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error('the book did not answer in time')),
      REMEMBER_WITHIN_MS,
    );
    try {
      await Promise.race([this.#book.rememberObjects(objects), late.promise]);
    } catch (error) {
      this.#log.warn({ err: error, reqId: call.requestId }, 'what an upstream keeps could not be noted');
    } finally {
      clearTimeout(timer);
    }
  }
}
