import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { newWebhookSecret } from '../../alerts/send.ts';
import type { NewInvitation } from '../../book/invitations.ts';
import type { Actor } from '../../domain/actor.ts';
import { callLimitsOf } from '../../domain/call-limits.ts';
import { micro } from '../../domain/credits.ts';
import { NewKey, parseNewKey } from '../../domain/key-settings.ts';
import { newKeyValue } from '../../domain/key-value.ts';
import { type Parsed, readBody } from '../../domain/shape.ts';
import { NO_WINDOWS } from '../../domain/spending-limits.ts';
import { pageLink } from '../../people/links.ts';
import {
  AccountKeyPath,
  AccountPath,
  CREATED_ACCOUNT_EXAMPLE,
  CreatedAccount,
  NewAccount,
  operatorAccountView,
} from '../account/account-view.ts';
import { adminAttentionRoute } from '../attention/attention-routes.ts';
import { adminAuditRoute } from '../audit/audit-routes.ts';
import { adminCallsRoute } from '../calls/calls-routes.ts';
import { adminExplainRoute, type ExplainDeps } from '../explain/explain-route.ts';
import { operatorOf } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { OPERATOR } from '../http/long-answer.ts';
import { type OperatorParts, requireOperator } from '../http/operators.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import { readKey, sendKeys } from '../keys/key-list.ts';
import {
  CREATED_KEY_EXAMPLE,
  CreatedKey,
  KEY_EXAMPLE,
  Key,
  KeyList,
  KeyListQuery,
  NEW_KEY_EXAMPLES,
} from '../keys/key-schema.ts';
import { createdKeyView } from '../keys/key-view.ts';
import { createKey, mayWarn, onceReachable, readNewKey, warnOfModels } from '../keys/keys.ts';
import { keyChangeRoutes } from '../keys/keys-routes.ts';
import { BODY_REFUSALS, BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { adminInvitationRoutes, mailInvitation, newInvitation } from '../people/invitation-routes.ts';
import { adminMembersRoute } from '../people/members-routes.ts';
import { adminPeopleRoutes, type PeopleDeps } from '../people/people-routes.ts';
import { type AdminDeps, accountOf, adminAccountRoutes, uniqueEmail } from './admin-account-routes.ts';
import { adminCreditsRoute } from './admin-credits-route.ts';
import { adminHealthRoute, type HealthDeps } from './admin-health-route.ts';
import { adminModelsRoute, adminProvidersRoute } from './admin-models-routes.ts';
import { adminReportRoutes } from './admin-report-routes.ts';
import { adminUsageRoute } from './admin-usage-route.ts';
import { eraseAccountRoute } from './erase-account-route.ts';

/** The operator's routes (specification section 7): accounts, their credits, keys and reports. */
export function adminRoutes(
  deps: AdminDeps & ExplainDeps & HealthDeps & OperatorParts & PeopleDeps,
): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    // Check the credential before reading the body, so that strangers can't make the gateway parse their bytes.
    app.addHook('onRequest', async (request) => {
      await requireOperator(deps, request);
      refuseUnknownParameters(request);
    });
    newAccountRoute(app, deps);
    adminAccountRoutes(app, deps);
    eraseAccountRoute(app, deps);
    adminCreditsRoute(app, deps);
    adminKeyRoutes(app, deps);
    adminMembersRoute(app, deps);
    adminInvitationRoutes(app, deps);
    adminAttentionRoute(app, deps);
    adminReportRoutes(app, deps);
    adminUsageRoute(app, deps);
    adminModelsRoute(app, deps);
    adminProvidersRoute(app, deps);
    adminHealthRoute(app, deps);
    adminCallsRoute(app, deps);
    adminExplainRoute(app, deps);
    adminAuditRoute(app, deps);
    adminPeopleRoutes(app, deps);
  };
}

const NO_CREDITS = micro(0);

/** `POST /api/admin/accounts/`: creates an account, its first key, and its first top-up. */
function newAccountRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'createAccount',
    summary: 'Create an account',
    description:
      'Also creates its first key, and invites an owner with `owner_email`. Only this answer contains the value and the link.',
    body: NewAccount.schema,
    response: { 201: CreatedAccount },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'email_taken', ...BODY_REFUSALS],
      requests: {
        owner: { value: { email: 'owner@example.com', credits: 250, alert_threshold: 50 } },
        invited: {
          summary: 'With an owner who signs in',
          value: { email: 'billing@example.com', name: 'Example Inc.', owner_email: 'ada@example.com' },
        },
      },
      answer: CREATED_ACCOUNT_EXAMPLE,
    },
  };
  app.post('/api/admin/accounts/', { schema }, async (request, reply) => {
    const { ownerEmail: email, ...wanted } = readBody(NewAccount, request.body);
    const owner = email === undefined ? undefined : newInvitation({ ...OWNER, email });
    const created = await createAccount(deps, { ...wanted, owner: owner?.record }, operatorOf(request));
    const link = owner && pageLink(request, deps.links, 'invite', owner.secret);
    const invited = link && { invitation_link: link, mailed: await mailInvitation(deps, owner.secret, link) };
    return reply.code(201).send({ ...created, ...invited });
  });
}

const OWNER = { role: 'owner', canCreateKeys: true, spendingLimits: [] } as const;

/** Creates account, key, top-up and invitation in one transaction of the book; Redis gets them now, or when it is next reachable. */
async function createAccount(
  { book, ledger, config }: AdminDeps,
  body: Omit<Parsed<typeof NewAccount>, 'ownerEmail'> & { readonly owner: NewInvitation | undefined },
  by: Actor,
) {
  const { credits, ...wanted } = body;
  const { value, prefix, hash } = newKeyValue(config.keyPrefix);
  const firstKey = { ...parseNewKey({ name: 'default' }), canManage: true, prefix, hash };
  const grant = { id: randomUUID(), amount: credits, note: 'Initial credits' };
  const createdAt = Date.now();
  const { account, key } = await uniqueEmail(
    book.createAccount(
      {
        overdraft: config.accounts.overdraft,
        ...callLimitsOf(config.accounts),
        ...wanted,
        webhookSecret: newWebhookSecret(),
      },
      firstKey,
      credits > 0 ? grant : null,
      createdAt,
      by,
    ),
  );
  await onceReachable(ledger.publishAccount(account));
  await onceReachable(ledger.publishKey(key, hash));
  if (credits > 0) {
    await onceReachable(ledger.grant({ ...grant, accountId: account.id, type: 'top_up', createdAt }));
  }
  return {
    account: operatorAccountView(account, {
      balance: credits,
      held: NO_CREDITS,
      windows: NO_WINDOWS,
      now: createdAt,
    }),
    key: createdKeyView(key, value),
  };
}

const docs = { tags: ['Operator'], security: BY_OPERATOR };
const PATH = '/api/admin/accounts/:account_id/keys/';

/**
 * The operator's routes for an account's keys (specification section 7). An owner who reports a leaked key may have no
 * other key to delete it with.
 */
function adminKeyRoutes(app: FastifyInstance, deps: AdminDeps): void {
  listRoute(app, deps);
  readRoute(app, deps);
  createRoute(app, deps);
  keyChangeRoutes(app, deps, {
    path: `${PATH}:key_id/`,
    changerOf: async (request) => ({
      accountId: (await accountOf(deps.book, request)).id,
      actor: operatorOf(request),
    }),
    docs: { ...docs, params: AccountKeyPath },
    refusals: [...OPERATOR_REFUSALS, 'account_not_found'],
    update: {
      operationId: 'updateKeyOfAccount',
      summary: 'Update a key of an account',
      description:
        'Changes only the fields you send. Takes effect at every gateway before you get the answer.',
    },
    remove: {
      operationId: 'deleteKeyOfAccount',
      summary: 'Delete a key of an account',
      description: 'Deactivates the key: every gateway refuses it from the answer on.',
    },
    rotate: {
      operationId: 'rotateKeyOfAccount',
      summary: 'Rotate a key of an account',
      description:
        'Gives the key a new value, or ends the previous one. Only this answer contains the new value.',
    },
  });
}

function listRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listKeysOfAccount',
    summary: 'List the keys of an account',
    params: AccountPath,
    querystring: KeyListQuery.schema,
    response: { 200: KeyList },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'invalid_field'],
      answer: { keys: [KEY_EXAMPLE] },
    },
  };
  app.get(PATH, { schema }, async (request, reply) => {
    const { id } = await accountOf(deps.book, request);
    return sendKeys(deps, request, reply, { accountId: id, onlyKeyId: undefined, owner: OPERATOR });
  });
}

function readRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readKeyOfAccount',
    summary: 'Read a key of an account',
    params: AccountKeyPath,
    response: { 200: Key },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'key_not_found'],
      answer: KEY_EXAMPLE,
    },
  };
  app.get(`${PATH}:key_id/`, { schema }, async (request) => {
    const { id } = await accountOf(deps.book, request);
    return await readKey(deps, { accountId: id, onlyKeyId: undefined, owner: OPERATOR }, request);
  });
}

function createRoute(app: FastifyInstance, deps: AdminDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'createKeyForAccount',
    summary: 'Create a key for an account',
    description:
      'For an owner who lost theirs, or to hand out. It can manage if it has no restriction, unless the request ' +
      'sets `can_manage`.',
    params: AccountPath,
    body: NewKey.schema,
    response: { 201: mayWarn(CreatedKey) },
    'x-docs': {
      refusals: [
        ...OPERATOR_REFUSALS,
        'account_not_found',
        'member_not_found',
        'member_inactive',
        'too_many_keys',
        ...BODY_REFUSALS,
      ],
      requests: NEW_KEY_EXAMPLES,
      answer: CREATED_KEY_EXAMPLE,
    },
  };
  app.post(PATH, { schema }, async (request, reply) => {
    const account = await accountOf(deps.book, request);
    const settings = await readNewKey(deps, request.body, account.id);
    const created = await createKey(deps, account.id, settings, operatorOf(request));
    warnOfModels(reply, deps.catalog(), settings);
    return reply.code(201).send(created);
  });
}
