import type { Book } from '../../book/book.ts';
import type { ProviderResource } from '../../book/resources.ts';
import { BookUnavailable } from '../../book/store.ts';
import { type Model, type Target, targetName } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { KeyRecord } from '../../domain/key.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Log } from '../../log/log.ts';
import { isResourceId } from '../../metering/meter.ts';

/** Maximum wait for the journal to drain when a call names an unknown id. Normally 6 to 24 ms. */
const FLUSH_WITHIN_MS = 2_000;
/** Maximum ids per request; real requests have a few dozen. They stay in memory during the query. */
const MAX_NAMED = 1_000;

interface ResourceOwnershipParts {
  readonly book: Book;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'flush'>;
  readonly contextTokens: number;
}

export class ResourceOwnership {
  readonly #parts: ResourceOwnershipParts;

  constructor(options: ResourceOwnershipParts) {
    this.#parts = options;
  }

  /**
   * Returns the tokens of the stored content that a request refers to, which the model reads besides the body, and the
   * target that has it. `named` maps each id to its member (referenced-ids.ts). Throws 404 `object_not_found` unless
   * the account owns all of them at one target of the model, and BookUnavailable if that can't be determined.
   */
  async behind(
    named: ReadonlyMap<string, string>,
    model: Model,
    key: Pick<KeyRecord, 'accountId'>,
  ): Promise<{ readonly tokens: number; readonly target: string }> {
    if (named.size > MAX_NAMED)
      throw new GatewayError('invalid_request', 'The request refers to too many objects.');
    const places = model.targets ?? [{ model }];
    const names = [...new Set(places.map((place) => targetName(place.model.upstream)))];
    // PostgreSQL stores no U+0000, so no recorded id contains it.
    const ids = [...named.keys()].filter((id) => !id.includes('\0'));
    const find = async () => {
      const found = await this.#parts.book.resources(key.accountId, names, ids);
      return Map.groupBy(found, ({ upstream }) => upstream);
    };
    const whole = (found: Awaited<ReturnType<typeof find>>) =>
      names.find((name) => found.get(name)?.length === named.size);
    let found = await find();
    if (whole(found) === undefined)
      found = await this.#afterFlush(key.accountId, find, (later) => whole(later) !== undefined);
    const target = whole(found);
    if (target === undefined) throw notFound(named, found.get(names[0] ?? ''));
    const unknown = model.contextWindow ?? this.#parts.contextTokens;
    const tokens = (found.get(target) ?? []).reduce((sum, resource) => sum + (resource.tokens ?? unknown), 0);
    return { tokens, target };
  }

  /**
   * Returns the target that produced the first known item of this encrypted reasoning; undefined if none is known or
   * the book is down.
   */
  async makerOf(
    encrypted: readonly string[],
    targets: readonly Target[],
    { accountId }: Pick<KeyRecord, 'accountId'>,
  ): Promise<string | undefined> {
    const names = [...new Set(targets.map(({ model }) => targetName(model.upstream)))];
    const find = async () => {
      const found = await this.#parts.book.resources(accountId, names, encrypted);
      const makers = new Map(found.map(({ id, upstream }) => [id, upstream]));
      return makers.get(encrypted.find((id) => makers.has(id)) ?? '');
    };
    try {
      return (await find()) ?? (await this.#afterFlush(accountId, find, (maker) => maker !== undefined));
    } catch (error) {
      if (error instanceof BookUnavailable) return undefined;
      throw error;
    }
  }

  /**
   * Returns the account's resource with this kind and id. Throws 404 `object_not_found` if the account has none, even
   * if another account does, and BookUnavailable if that can't be determined.
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
      `This account has no ${JSON.stringify(id.slice(0, 100))}. You can only read objects that this account created.`,
    );
  }

  async #find(accountId: number, kind: string, id: string): Promise<ProviderResource | undefined> {
    const find = () => this.#parts.book.resource(accountId, kind, id);
    return (await find()) ?? (await this.#afterFlush(accountId, find, (later) => later !== undefined));
  }

  /**
   * Repeats `find` after draining the account's journal, because an id reaches the book together with the charge of its
   * answer. Throws BookUnavailable if the drain is late and the resource still unknown, so that the client retries
   * instead of being told that its response does not exist.
   */
  async #afterFlush<T>(accountId: number, find: () => Promise<T>, isAll: (found: T) => boolean): Promise<T> {
    const isFlushed = await this.#parts.ledger.flush(accountId, FLUSH_WITHIN_MS);
    const found = await find();
    if (!isFlushed && !isAll(found)) throw new BookUnavailable('the journal is not in the book yet');
    return found;
  }

  /**
   * Ends the ownership of a resource deleted at its upstream. Never rejects: if the book keeps the row, the upstream
   * answers 404 for it.
   */
  async release(resource: ProviderResource): Promise<void> {
    try {
      await this.#parts.book.releaseResource(resource, Date.now());
    } catch (error) {
      this.#parts.log.warn(
        { err: error, resource: resource.id },
        'failed to release an object that an upstream deleted',
      );
    }
  }
}

/** 404 for the first named id that the account does not have at a target. */
function notFound(named: ReadonlyMap<string, string>, found: readonly ProviderResource[] = []): GatewayError {
  const known = new Set(found.map(({ id }) => id));
  const [id = '', member = ''] = [...named].find(([id]) => !known.has(id)) ?? [];
  return new GatewayError(
    'object_not_found',
    `This account has no ${JSON.stringify(id.slice(0, 100))}. You can only refer to objects that this account created ` +
      'at the provider of this model.',
    member.slice(0, 100),
  );
}
