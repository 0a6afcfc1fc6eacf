import { type Book, BookUnavailable, type ProviderResource } from '../../book/book.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { KeyRecord } from '../../domain/key.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Log } from '../../log/log.ts';
import { isResourceId } from '../../metering/meter.ts';
import type { CallBody } from '../request/call-body.ts';

/**
 * A call that names what the book does not have waits no longer than this for the journal to be in the book; it takes 6 to
 * 24 ms where nothing is amiss.
 */
const FLUSH_WITHIN_MS = 2_000;
/** More ids than a request can name in earnest. */
const MAX_NAMED = 10_000;

/** Which account owns what a provider stores (specification section 4): for any other account it does not exist. */
export class ResourceOwnership {
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
   * Tokens that stand behind the ids that a request names, each with the member in which it does. Throws 404
   * `object_not_found` where one of them is not the account's own at the upstream of the model, whoever's it is;
   * BookUnavailable where that cannot be found out.
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
      const resource = byId.get(id);
      if (!resource) {
        throw new GatewayError(
          'object_not_found',
          `There is no ${JSON.stringify(id.slice(0, 100))} of this account. Only what was made with this account, at the ` +
            'provider of the same model, can be named.',
          member.slice(0, 100),
        );
      }
      tokens += resource.tokens ?? this.#contextTokens;
    }
    return tokens;
  }

  /**
   * The account's own of that kind. Throws 404 `object_not_found` where it has none, whoever else has; BookUnavailable
   * where that cannot be found out.
   */
  async ownedBy(
    { accountId }: Pick<KeyRecord, 'accountId'>,
    kind: string,
    id: string,
  ): Promise<ProviderResource> {
    const found = isResourceId(id) ? await this.#find(accountId, kind, id) : undefined;
    if (found) return found;
    throw new GatewayError(
      'object_not_found',
      `There is no ${JSON.stringify(id.slice(0, 100))} of this account. Only what was made with this account can be asked for.`,
    );
  }

  async #named(
    accountId: number,
    upstream: string,
    ids: readonly string[],
  ): Promise<Map<string, ProviderResource>> {
    const find = async () => {
      const found = await this.#book.resources(accountId, upstream, ids);
      return new Map(found.map((resource) => [resource.id, resource]));
    };
    const byId = await find();
    if (byId.size === new Set(ids).size) return byId;
    return await this.#afterFlush(accountId, find, (later) => later.size === new Set(ids).size);
  }

  async #find(accountId: number, kind: string, id: string): Promise<ProviderResource | undefined> {
    const find = () => this.#book.resource(accountId, kind, id);
    return (await find()) ?? (await this.#afterFlush(accountId, find, (later) => later !== undefined));
  }

  /**
   * Looks again once the book has the account's journal, because ids come into the book with the charge of the answer
   * that they are of. Throws BookUnavailable where that takes too long and it is still not all there: the client is told
   * to ask again, and not that its own response does not exist.
   */
  async #afterFlush<T>(accountId: number, find: () => Promise<T>, isAll: (found: T) => boolean): Promise<T> {
    const isFlushed = await this.#ledger.flush(accountId, FLUSH_WITHIN_MS);
    const found = await find();
    if (!isFlushed && !isAll(found)) throw new BookUnavailable('the journal is not in the book yet');
    return found;
  }

  /** It was deleted at its upstream. Never rejects: what the book still has then is answered by the upstream, with 404. */
  async release(resource: ProviderResource): Promise<void> {
    try {
      await this.#book.releaseResource(resource, Date.now());
    } catch (error) {
      this.#log.warn({ err: error, resource: resource.id }, 'what an upstream deleted could not be released');
    }
  }
}
