import type { FastifyReply, FastifyRequest, FastifySchema, onRequestAsyncHookHandler } from 'fastify';
import type { Book } from '../../book/book.ts';
import { VersionConflict } from '../../book/key-row.ts';
import { type KeyBounds, KeyTooLarge, TooManyKeys } from '../../book/keys.ts';
import type { Config } from '../../config/config.ts';
import type { Actor } from '../../domain/actor.ts';
import { modelNames } from '../../domain/allowed-models.ts';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import { type ErrorCode, GatewayError, invalidField } from '../../domain/errors.ts';
import type { KeyRecord, KeySettings } from '../../domain/key.ts';
import { KEY_FIELDS } from '../../domain/key-fields.ts';
import { carriesRestriction, parseNewKey, tooLarge } from '../../domain/key-settings.ts';
import { newKeyValue } from '../../domain/key-value.ts';
import { type Ledger, LedgerUnavailable } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { type AccountCaller, keyNotFound } from '../http/callers.ts';
import { pathId } from '../openapi/fields.ts';
import type { ObjectSchema } from '../openapi/json-type.ts';
import type { RouteDocs } from '../openapi/operation.ts';
import { IF_MATCH } from './key-schema.ts';
import { type CreatedKeyView, createdKeyView } from './key-view.ts';
import { changeBy, isLockedByDefault, personOfNewKey } from './own-keys.ts';

/** Collaborators of the commands on keys. */
export interface KeyCommandDeps {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly config: Config;
  readonly pools: Pools;
}

/** A new key, without its value. */
type AskedKey = KeySettings & { readonly personId: number | null };

/**
 * Parses the settings of a new key, replaces model aliases by names, and finds whose key it is (own-keys.ts). Throws like
 * `parseNewKey` and `personOfNewKey`.
 */
export async function readNewKey(
  { book, catalog }: Pick<KeyChangeDeps, 'book' | 'catalog'>,
  body: unknown,
  accountId: number,
  caller?: AccountCaller,
): Promise<AskedKey> {
  const asked = parseNewKey(body);
  const settings = withSlugs(asked, catalog());
  const personId = await personOfNewKey(book, accountId, caller, asked);
  if (personId === null) {
    return { ...settings, personId, canManage: managesOnCreation(asked.canManage, settings) };
  }
  const isSaid = Object.hasOwn(body as object, KEY_FIELDS.restrictionsLocked.wire);
  const restrictionsLocked = isSaid ? asked.restrictionsLocked : isLockedByDefault(personId, caller);
  return { ...settings, personId, canManage: false, restrictionsLocked };
}

/** Creates a key. Resolves with the response, the only place that shows its value. Throws `too_many_keys`. */
export async function createKey(
  { book, ledger, config }: KeyCommandDeps,
  accountId: number,
  settings: AskedKey,
  by: Actor,
): Promise<CreatedKeyView> {
  const { value, prefix, hash } = newKeyValue(config.keyPrefix);
  const key = await book
    .createKey(accountId, { ...settings, prefix, hash }, Date.now(), config.accounts, by)
    .catch(refuseTooMany(config.accounts));
  await onceReachable(ledger.publishKey(key, hash));
  return createdKeyView(key, value);
}

/** Returns a handler that turns TooManyKeys into 409 `too_many_keys` and rethrows other errors. */
function refuseTooMany({ maxKeys, maxKeyBytes }: KeyBounds): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof TooManyKeys)) throw error;
    throw new GatewayError(
      'too_many_keys',
      error.bound === 'maxKeys'
        ? `The account has the maximum of ${maxKeys} keys, including inactive ones. Reuse one that you no longer need.`
        : `The settings of all keys of the account, including inactive ones, exceed ${maxKeyBytes} bytes. Shorten the lists of keys that you no longer need.`,
    );
  };
}

/**
 * Resolves when a new record is published to Redis, or if Redis is unreachable. That is safe: the book has the record,
 * Redis has no older one, and publication catches up when Redis answers again. A 503 here would lose the only copy of
 * the key's value.
 */
export async function onceReachable(publication: Promise<unknown>): Promise<void> {
  try {
    await publication;
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
  }
}

export interface KeyChange {
  readonly accountId: number;
  readonly keyId: number;
  readonly settings: Partial<KeySettings>;
  /** Expected version of the record; undefined for any. */
  readonly ifVersion: number | undefined;
  readonly actor: Actor;
  /** Undefined: the operator. */
  readonly caller?: AccountCaller | undefined;
  /** Default: `key.update`. */
  readonly action?: 'key.delete';
}

/**
 * Changes a key in the book, then in Redis. Resolves after both, so that the next request is checked against the new
 * record (specification section 3, "Revocation"). Throws `key_not_found`, `version_conflict`, `invalid_field`, and
 * `too_many_keys` for settings that are too long. Throws LedgerUnavailable if the change is in the book but not yet in
 * Redis; repeating the request is harmless.
 */
export async function changeKey(
  { book, ledger, config }: KeyCommandDeps,
  { accountId, keyId, settings, ifVersion, actor, caller, action }: KeyChange,
): Promise<KeyRecord> {
  const { maxKeyBytes } = config.accounts;
  const key = await book
    .updateKey(
      accountId,
      keyId,
      changeBy(caller, settings, action),
      Date.now(),
      ifVersion,
      maxKeyBytes,
      actor,
      action,
    )
    .catch((error) => {
      if (error instanceof KeyTooLarge) throw tooLarge(settings, error.bytes);
      throw error;
    })
    .catch(refuseTooMany(config.accounts))
    .catch(refuseConflict);
  if (key === undefined) throw keyNotFound();
  await ledger.publishKey(key);
  return key;
}

/** Turns VersionConflict into 412 `version_conflict`; rethrows other errors. */
export function refuseConflict(error: unknown): never {
  if (!(error instanceof VersionConflict)) throw error;
  throw new GatewayError(
    'version_conflict',
    `The key has changed: its version is now ${error.current}. Read it again and send your change with that ` +
      'version.',
    'If-Match',
  );
}

/**
 * `canManage` of a key created by another key or the operator (specification section 2, "Who may manage"). The request
 * decides; by default only an unrestricted key may manage, so that a key handed out with limits can't lift them.
 */
function managesOnCreation(said: boolean | undefined, settings: Partial<KeySettings>): boolean {
  return said ?? !carriesRestriction(settings);
}

/**
 * `canManage` after a PATCH that omits it; undefined if unchanged. A restriction by *another* key or the operator
 * removes it. A key's restriction on itself doesn't, so that owners can't lock themselves out.
 */
export function managesAfterPatch(
  change: Partial<KeySettings>,
  /** True if a key changes itself. */
  { isOwn }: { readonly isOwn: boolean },
): { readonly canManage?: boolean } {
  const loses = change.canManage === undefined && !isOwn && carriesRestriction(change);
  return loses ? { canManage: false } : {};
}

/** The `key_id` of the path. Throws `key_not_found` for anything that cannot be an id. */
export function keyIdOf(request: FastifyRequest): number {
  const keyId = pathId((request.params as { key_id: string }).key_id);
  if (keyId === undefined) throw keyNotFound();
  return keyId;
}

/**
 * Expected version from the header `If-Match` (specification section 2); undefined for any. Throws `invalid_field` for
 * a header without a single version.
 */
export function ifMatch(request: FastifyRequest): number | undefined {
  const value = request.headers['if-match'];
  if (value === undefined || value === '*') return undefined;
  if (!IF_MATCH.test(value)) {
    throw invalidField('If-Match', 'If-Match must be a version of the key, such as "3", or *.');
  }
  return Number(value.replaceAll('"', ''));
}

export interface KeyChangeDeps extends KeyCommandDeps {
  readonly catalog: () => Catalog;
}

/** Caller that changes a key: the account's owner or the operator. */
interface KeyChanger {
  readonly accountId: number;
  /** Id of the calling key; undefined: a person or the operator. */
  readonly callerId?: number | undefined;
  readonly actor: Actor;
  /** Undefined: the operator. */
  readonly caller?: AccountCaller | undefined;
}

type Words = Required<Pick<FastifySchema, 'operationId' | 'summary' | 'description'>>;

/** Differences between the owner's and the operator's routes that change a key. */
export interface KeyChangeRoutes {
  /** Path of a key, ending in `:key_id/`. */
  readonly path: string;
  /** Authorizes the request before any other check. Rejects with the refusal. */
  readonly changerOf: (request: FastifyRequest) => Promise<KeyChanger>;
  readonly onRequest?: onRequestAsyncHookHandler;
  /** Docs shared by all routes, and the refusals that precede those for the key. */
  readonly docs: Pick<FastifySchema, 'tags' | 'security' | 'params'>;
  readonly refusals: readonly ErrorCode[];
  /** Absent: the operator's. */
  readonly may?: RouteDocs['may'];
  readonly update: Words;
  readonly remove: Words;
  readonly rotate: Words;
}

/** The actions of a route for its docs. */
export function mayOf({ may }: KeyChangeRoutes) {
  return may === undefined ? {} : { may };
}

const HEADER = 'x-tollgate-warning';
/** Maximum names in the header and, below, maximum characters of each, to keep the header small. */
const MOST_NAMES = 5;
const LONGEST_NAME = 60;

/** Replaces model aliases by names, so that the stored list doesn't change with the catalog. */
export function withSlugs<Settings extends { readonly allowedModels?: readonly string[] }>(
  settings: Settings,
  catalog: Catalog,
): Settings {
  const { allowedModels } = settings;
  if (!allowedModels?.some((name) => modelOf(catalog, name))) return settings;
  const slugs = allowedModels.map((name) => modelOf(catalog, name)?.slug ?? name);
  return { ...settings, allowedModels: [...new Set(slugs)] };
}

/**
 * Adds a response header that lists `allowed_models` missing from the catalog. They are probably misspelt, but
 * accepted, because a model may be added later.
 */
export function warnOfModels(
  reply: FastifyReply,
  catalog: Catalog,
  { allowedModels = [] }: { readonly allowedModels?: readonly string[] },
): void {
  const slugs = [...catalog.keys()];
  const unknown = allowedModels.filter((name) => !catalog.has(name) && !slugs.some(modelNames([name]).has));
  if (unknown.length === 0) return;
  const names = unknown.slice(0, MOST_NAMES).map(quoted).join(', ');
  const more = unknown.length > MOST_NAMES ? ` and ${unknown.length - MOST_NAMES} more` : '';
  const verb = unknown.length === 1 ? 'is' : 'are';
  reply.header(HEADER, `allowed_models: ${names}${more} ${verb} not in the catalog`);
}

/** A name as ASCII JSON, safe in a header. */
function quoted(slug: string): string {
  const shown = slug.length > LONGEST_NAME ? `${slug.slice(0, LONGEST_NAME)}…` : slug;
  return JSON.stringify(shown).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Schema of a response that may carry the warning. */
export function mayWarn(schema: ObjectSchema) {
  return {
    description: String(schema.description),
    headers: {
      [HEADER]: {
        type: 'string',
        description:
          'Names in the `allowed_models` of the request that are not in the catalog, if any. They are stored, because a ' +
          'model may be added later.',
        examples: ['allowed_models: "gpt-0" is not in the catalog'],
      },
    },
    content: { 'application/json': { schema } },
  };
}
