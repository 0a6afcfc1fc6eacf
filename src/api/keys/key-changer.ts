import type { FastifyRequest, FastifySchema, onRequestAsyncHookHandler } from 'fastify';
import type { Catalog } from '../../domain/catalog.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { KeyCommandDeps } from './keys.ts';

export interface KeyChangeDeps extends KeyCommandDeps {
  readonly catalog: () => Catalog;
}

/** Caller that changes a key of an account: its owner, or the operator. */
export interface KeyChanger {
  readonly accountId: number;
  /** Id of the calling key; undefined: the operator. */
  readonly callerId?: number;
}

type Words = Required<Pick<FastifySchema, 'operationId' | 'summary' | 'description'>>;

/** Differences between the routes of the owner and of the operator that change a key. */
export interface KeyChangeRoutes {
  /** Path of a key; it ends with `:key_id/`. */
  readonly path: string;
  /** Authorises the request, before anything else of it is looked at. Rejects with the refusal. */
  readonly changerOf: (request: FastifyRequest) => Promise<KeyChanger>;
  readonly onRequest?: onRequestAsyncHookHandler;
  /** The description of all routes, and the refusals that precede those for the key. */
  readonly docs: Pick<FastifySchema, 'tags' | 'security' | 'params'>;
  readonly refusals: readonly ErrorCode[];
  readonly update: Words;
  readonly remove: Words;
  readonly rotate: Words;
}
