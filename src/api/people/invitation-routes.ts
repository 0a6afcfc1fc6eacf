import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, FastifySchema } from 'fastify';
import type { NewInvitation as NewRecord } from '../../book/invitations.ts';
import type { MemberChanger } from '../../book/members.ts';
import { type ErrorCode, GatewayError } from '../../domain/errors.ts';
import { hashKey } from '../../domain/key-value.ts';
import type { Action } from '../../domain/roles.ts';
import { type Parsed, readBody } from '../../domain/shape.ts';
import { type LinkParts, pageLink } from '../../people/links.ts';
import { invitationMail, type Mailer } from '../../people/mail.ts';
import { newSecret } from '../../people/sessions.ts';
import { AccountPath } from '../account/account-view.ts';
import { beforeTheBody, callerOf, operatorOf } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { pathId } from '../openapi/fields.ts';
import { type JsonSchema, Type } from '../openapi/json-type.ts';
import {
  BODY_REFUSALS,
  BY_ACCOUNT,
  BY_OPERATOR,
  MANAGING_REFUSALS,
  OPERATOR_REFUSALS,
} from '../openapi/operation.ts';
import { accountOf } from '../operator/admin-account-routes.ts';
import {
  CREATED_INVITATION_EXAMPLE,
  CreatedInvitation,
  type CreatedInvitationView,
  INVITATION_EXAMPLE,
  InvitationList,
  type InvitationListView,
  InvitationPath,
  invitationView,
  NEW_INVITATION_EXAMPLES,
  NewInvitation,
} from './invitation-view.ts';
import { Deleted } from './member-view.ts';
import { changerOf, type MembersDeps, operatorChanger } from './members-routes.ts';

export interface InvitationDeps extends MembersDeps {
  readonly links: LinkParts;
  readonly mailer: Mailer;
}

/** An account, and the caller that sees or changes its invitations. */
interface Asked {
  readonly accountId: number;
  readonly changer: MemberChanger;
}

/** Differences between the account's and the operator's routes. */
interface InvitationRoutes {
  /** Path of the list. */
  readonly path: string;
  readonly of: (request: FastifyRequest, action: 'read members' | 'change members') => Promise<Asked>;
  readonly beforeTheBody?: ReturnType<typeof beforeTheBody>;
  readonly docs: Pick<FastifySchema, 'tags' | 'security' | 'params'>;
  readonly pathParams: Readonly<Record<string, JsonSchema>>;
  readonly refusals: readonly ErrorCode[];
  /** False: the operator's. */
  readonly isOfAccount: boolean;
}

const ACCOUNT_PATH = '/api/account/invitations/';

/** Invitations to the account of the caller (docs/people.md). */
export function invitationRoutes(deps: InvitationDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    routesAt(app, deps, {
      path: ACCOUNT_PATH,
      of: async (request, action) => {
        const caller = await callerOf(deps, request, action);
        return { accountId: caller.accountId, changer: changerOf(caller) };
      },
      beforeTheBody: beforeTheBody(deps, 'change members'),
      docs: { tags: ['People'], security: BY_ACCOUNT },
      pathParams: {},
      refusals: MANAGING_REFUSALS,
      isOfAccount: true,
    });
  };
}

/** The operator's routes for invitations to an account, which may have no owner yet. */
export function adminInvitationRoutes(
  app: FastifyInstance,
  deps: Pick<InvitationDeps, 'book' | 'ledger' | 'links' | 'mailer'>,
): void {
  routesAt(app, deps, {
    path: '/api/admin/accounts/:account_id/invitations/',
    of: async (request) => {
      const { id } = await accountOf(deps.book, request);
      return { accountId: id, changer: operatorChanger(operatorOf(request)) };
    },
    docs: { tags: ['Operator'], security: BY_OPERATOR, params: AccountPath },
    pathParams: AccountPath.properties,
    refusals: [...OPERATOR_REFUSALS, 'account_not_found'],
    isOfAccount: false,
  });
}

function mayOf({ isOfAccount }: InvitationRoutes, action: Action) {
  return isOfAccount ? { may: [action] } : {};
}

type RouteDeps = Pick<InvitationDeps, 'book' | 'links' | 'mailer'>;

function routesAt(app: FastifyInstance, deps: RouteDeps, routes: InvitationRoutes): void {
  createRoute(app, deps, routes);
  listRoute(app, deps, routes);
  withdrawRoute(app, deps, routes);
}

function createRoute(app: FastifyInstance, deps: RouteDeps, routes: InvitationRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    operationId: routes.isOfAccount ? 'createInvitation' : 'createInvitationToAccount',
    summary: 'Invite a person',
    description:
      'Returns a link that makes one person a member, works once, and ends after 7 days. Only this answer contains it. Only ' +
      'an owner or the operator invites owners and admins.',
    body: NewInvitation.schema,
    response: { 201: CreatedInvitation },
    'x-docs': {
      ...mayOf(routes, 'change members'),
      refusals: [...routes.refusals, ...BODY_REFUSALS],
      requests: NEW_INVITATION_EXAMPLES,
      answer: CREATED_INVITATION_EXAMPLE,
    },
  };
  const hook = routes.beforeTheBody ? { onRequest: routes.beforeTheBody } : {};
  app.post(routes.path, { schema, ...hook }, async (request, reply): Promise<CreatedInvitationView> => {
    const { accountId, changer } = await routes.of(request, 'change members');
    const { record, secret } = newInvitation(readBody(NewInvitation, request.body));
    const made = await deps.book.createInvitation(accountId, record, changer, Date.now());
    const link = pageLink(request, deps.links, 'invite', secret);
    const mailed = await mailInvitation(deps, secret, link);
    reply.code(201);
    return { ...invitationView(made), link, mailed };
  });
}

/** Record of a new invitation, and the secret of its link, which is stored nowhere. */
export function newInvitation({ email = null, name = null, ...offer }: Parsed<typeof NewInvitation>): {
  readonly record: NewRecord;
  readonly secret: string;
} {
  const { secret, hash } = newSecret();
  return { record: { ...offer, email, name, secretHash: hash }, secret };
}

/** Mails the link of a new invitation to its e-mail address, if it has one. Resolves with whether it went out. */
export async function mailInvitation(
  { book, mailer }: Pick<InvitationDeps, 'book' | 'mailer'>,
  secret: string,
  link: string,
): Promise<boolean> {
  // The invitation is made: its answer must not fail any more.
  const made = await book.invitationOf(hashKey(secret), Date.now()).catch(() => undefined);
  if (typeof made?.email !== 'string') return false;
  const { email, role, expiresAt } = made;
  return await mailer.sendSoon(invitationMail(email, { account: made.account.name, role, link, expiresAt }));
}

function listRoute(app: FastifyInstance, { book }: RouteDeps, routes: InvitationRoutes): void {
  const schema: FastifySchema = {
    ...routes.docs,
    operationId: routes.isOfAccount ? 'listInvitations' : 'listInvitationsToAccount',
    summary: 'List open invitations',
    response: { 200: InvitationList },
    'x-docs': {
      ...mayOf(routes, 'read members'),
      refusals: routes.refusals,
      answer: { invitations: [INVITATION_EXAMPLE] },
    },
  };
  app.get(routes.path, { schema }, async (request): Promise<InvitationListView> => {
    const { accountId } = await routes.of(request, 'read members');
    return { invitations: (await book.invitations(accountId, Date.now())).map(invitationView) };
  });
}

function withdrawRoute(app: FastifyInstance, { book }: RouteDeps, routes: InvitationRoutes): void {
  const path = `${routes.path}:invitation_id/`;
  const schema: FastifySchema = {
    ...routes.docs,
    operationId: routes.isOfAccount ? 'withdrawInvitation' : 'withdrawInvitationToAccount',
    summary: 'Withdraw an invitation',
    description: 'Its link stops working.',
    params: Type.Object({ ...routes.pathParams, ...InvitationPath.properties }),
    response: { 200: Deleted },
    'x-docs': {
      ...mayOf(routes, 'change members'),
      refusals: [...routes.refusals, 'invitation_not_found'],
      answer: { deleted: true },
    },
  };
  const hook = routes.beforeTheBody ? { onRequest: routes.beforeTheBody } : {};
  app.delete(path, { schema, ...hook }, async (request) => {
    const { accountId, changer } = await routes.of(request, 'change members');
    const id = pathId((request.params as { invitation_id: string }).invitation_id);
    const isWithdrawn =
      id !== undefined && (await book.withdrawInvitation(accountId, id, changer, Date.now()));
    if (!isWithdrawn) {
      throw new GatewayError('invitation_not_found', 'The account has no open invitation with this id.');
    }
    return { deleted: true };
  });
}
