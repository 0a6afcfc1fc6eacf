import type { FastifyInstance, FastifySchema } from 'fastify';
import { creditsNumber, micro } from '../domain/credits.ts';
import { ownKeyView } from '../domain/key-view.ts';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { BY_KEY } from './docs/operation.ts';
import { OWNER_REFUSALS } from './docs/refusals.ts';
import { OWN_KEY_EXAMPLE } from './key-examples.ts';
import { keyNotFound } from './key-path.ts';
import { OwnKey } from './key-schema.ts';
import { callingKey } from './may-manage.ts';

const NOTHING = micro(0);

export interface OwnKeyDeps {
  readonly ledger: Ledger;
  readonly gatekeeper: Gatekeeper;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}

/** `GET /api/key/`: what a key is, and what it may still spend (specification section 2, "What a key sees"). */
export function ownKeyRoute(app: FastifyInstance, { ledger, gatekeeper, now = Date.now }: OwnKeyDeps): void {
  const schema: FastifySchema = {
    tags: ['Keys'],
    security: BY_KEY,
    operationId: 'readOwnKey',
    summary: 'Read the calling key',
    description:
      'Any usable key: its settings, what it has spent, what is left of its limit, and until when.',
    response: { 200: OwnKey },
    'x-docs': { refusals: OWNER_REFUSALS, answer: OWN_KEY_EXAMPLE },
  };
  app.get('/api/key/', { schema }, async (request) => {
    const { id, accountId, canManage } = await callingKey(gatekeeper, request);
    const key = (await ledger.current(accountId, id))?.key;
    if (key === undefined) throw keyNotFound();
    const [[spent = NOTHING], account] = await Promise.all([
      ledger.spent(accountId, [{ id, period: key.spendingPeriod }]),
      canManage ? ledger.account(accountId) : undefined,
    ]);
    return {
      ...ownKeyView(key, spent, now()),
      ...(account === undefined ? {} : { credits_balance: creditsNumber(account.balance) }),
    };
  });
}
