import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { newWebhookSecret } from '../alerts/sign.ts';
import { type CallLimits, callLimitsOf } from '../domain/call-limits.ts';
import { MICRO_PER_CREDIT, type Micro, micro } from '../domain/credits.ts';
import { DEFAULT_ALERT_THRESHOLD } from '../domain/key.ts';
import { parseNewKey } from '../domain/key-settings.ts';
import { newKeyValue } from '../domain/key-value.ts';
import { type AdminDeps, uniqueEmail } from './admin-account.ts';
import { CREATED_ACCOUNT_EXAMPLE, CreatedAccount, NewAccountBody } from './admin-schema.ts';
import { emailField, objectBody, positiveCreditsField } from './body-fields.ts';
import { readCallLimits } from './call-limit-fields.ts';
import { BY_OPERATOR } from './docs/operation.ts';
import { BODY_REFUSALS, OPERATOR_REFUSALS } from './docs/refusals.ts';
import { onceReachable } from './keys.ts';
import { operatorAccountView } from './views/account-view.ts';
import { createdKeyView } from './views/key-view.ts';

const NO_CREDITS = micro(0);

interface Wanted {
  readonly email: string;
  readonly credits: Micro;
  readonly alertThreshold: Micro;
  /** Undefined: as the configuration says. */
  readonly overdraft: Micro | undefined;
  /** One that is absent: as the configuration says. */
  readonly limits: Partial<CallLimits>;
}

/** Route `POST /api/admin/accounts/`: creates an account, its first key, and a top-up with its first credits. */
export function newAccountRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'createAccount',
    summary: 'Create an account',
    description: 'With its first key, whose value is in this answer only.',
    body: NewAccountBody,
    response: { 201: CreatedAccount },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'email_taken', ...BODY_REFUSALS],
      requests: { owner: { value: { email: 'owner@example.com', credits: 250, alert_threshold: 50 } } },
      answer: CREATED_ACCOUNT_EXAMPLE,
    },
  };
  app.post('/api/admin/accounts/', { schema }, async (request, reply) =>
    reply.code(201).send(await createAccount(deps, parseAccount(request.body))),
  );
}

function parseAccount(body: unknown): Wanted {
  const fields = objectBody(body, Object.keys(NewAccountBody.properties));
  const { email, credits, alert_threshold, overdraft } = fields;
  return {
    email: emailField(email),
    credits: credits === undefined ? NO_CREDITS : positiveCreditsField('credits', credits),
    alertThreshold:
      alert_threshold === undefined
        ? micro(DEFAULT_ALERT_THRESHOLD * MICRO_PER_CREDIT)
        : positiveCreditsField('alert_threshold', alert_threshold),
    overdraft: overdraft === undefined ? undefined : positiveCreditsField('overdraft', overdraft),
    limits: readCallLimits(fields),
  };
}

/**
 * Creates account, key and top-up in one transaction of the book; Redis gets them now, or once it is reachable again.
 */
async function createAccount({ book, ledger, config, now = Date.now }: AdminDeps, wanted: Wanted) {
  const { value, prefix, hash } = newKeyValue(config.keyPrefix);
  const firstKey = { ...parseNewKey({ name: 'default' }).settings, canManage: true, prefix, hash };
  const grant = { id: randomUUID(), amount: wanted.credits, note: 'Initial credits' };
  const createdAt = now();
  const { account, key } = await uniqueEmail(
    book.createAccount(
      {
        email: wanted.email,
        alertThreshold: wanted.alertThreshold,
        overdraft: wanted.overdraft ?? config.accounts.overdraft,
        ...callLimitsOf(config.accounts),
        ...wanted.limits,
        webhookSecret: newWebhookSecret(),
      },
      firstKey,
      wanted.credits > 0 ? grant : null,
      createdAt,
    ),
  );
  await onceReachable(ledger.publishAccount(account));
  await onceReachable(ledger.publishKey(key, hash));
  if (wanted.credits > 0) {
    await onceReachable(ledger.grant({ ...grant, accountId: account.id, type: 'top_up', createdAt }));
  }
  return {
    account: operatorAccountView(account, { balance: wanted.credits, held: NO_CREDITS }),
    key: createdKeyView(key, value),
  };
}
