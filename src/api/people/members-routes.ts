import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { type ChangedMember, type MemberChanger, memberNotFound } from '../../book/members.ts';
import { GatewayError } from '../../domain/errors.ts';
import { GIVEN_BY_ADMINS, ROLES, type Role } from '../../domain/roles.ts';
import { readBody } from '../../domain/shape.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { AccountPath } from '../account/account-view.ts';
import {
  type AccountCaller,
  beforeTheBody,
  callerOf,
  notPermitted,
  type WriteParts,
} from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { pathId } from '../openapi/fields.ts';
import {
  BODY_REFUSALS,
  BY_ACCOUNT,
  BY_OPERATOR,
  MANAGING_REFUSALS,
  OPERATOR_REFUSALS,
} from '../openapi/operation.ts';
import { accountOf } from '../operator/admin-account-routes.ts';
import {
  Deleted,
  MEMBER_EXAMPLE,
  MemberList,
  type MemberListView,
  MemberPatch,
  MemberSchema,
  memberViews,
  PersonPath,
} from './member-view.ts';
import { publishKeys } from './people-routes.ts';

export interface MembersDeps extends WriteParts {
  readonly book: Book;
  readonly ledger: Ledger;
}

const docs = { tags: ['People'], security: BY_ACCOUNT };
const PATH = '/api/account/members/:person_id/';

/** The members of an account (docs/people.md). */
export function membersRoutes(deps: MembersDeps): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    listRoute(app, deps);
    updateRoute(app, deps);
    removeRoute(app, deps);
  };
}

const ALL_ROLES: ReadonlySet<Role> = new Set(ROLES);

/** A managing key gives and takes the roles that an admin may. */
export function changerOf({ actor, member }: AccountCaller): MemberChanger {
  return { by: actor, roles: member?.role === 'owner' ? ALL_ROLES : GIVEN_BY_ADMINS };
}

/** The operator gives and takes all roles. */
export function operatorChanger(by: MemberChanger['by']): MemberChanger {
  return { by, roles: ALL_ROLES };
}

function listRoute(app: FastifyInstance, deps: MembersDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listMembers',
    summary: 'List members',
    description: 'Returns the people who are members of the account, including inactive ones.',
    response: { 200: MemberList },
    'x-docs': {
      may: ['read members'],
      refusals: MANAGING_REFUSALS,
      answer: { members: [MEMBER_EXAMPLE] },
    },
  };
  app.get('/api/account/members/', { schema }, async (request) => {
    const { accountId } = await callerOf(deps, request, 'read members');
    return await memberList(deps, accountId);
  });
}

async function memberList(
  { book, ledger }: Pick<MembersDeps, 'book' | 'ledger'>,
  accountId: number,
): Promise<MemberListView> {
  return { members: await memberViews({ book, ledger }, accountId, await book.members(accountId)) };
}

/** `GET /api/admin/accounts/<id>/members/`. */
export function adminMembersRoute(app: FastifyInstance, deps: Pick<MembersDeps, 'book' | 'ledger'>): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'listMembersOfAccount',
    summary: 'List the members of an account',
    params: AccountPath,
    response: { 200: MemberList },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found'],
      answer: { members: [MEMBER_EXAMPLE] },
    },
  };
  app.get('/api/admin/accounts/:account_id/members/', { schema }, async (request) => {
    const { id } = await accountOf(deps.book, request);
    return await memberList(deps, id);
  });
}

function updateRoute(app: FastifyInstance, deps: MembersDeps): void {
  const { book, ledger } = deps;
  const schema: FastifySchema = {
    ...docs,
    operationId: 'updateMember',
    summary: 'Update a member',
    description:
      'Changes only the fields you send. Only an owner gives and takes the roles `owner` and `admin`, and nobody changes ' +
      'their own membership. `is_active: false` also deactivates all keys of the person in the account: every gateway ' +
      'refuses them from the answer on, and they stay inactive when the member returns. A change of role leaves keys.',
    params: PersonPath,
    body: MemberPatch.schema,
    response: { 200: MemberSchema },
    'x-docs': {
      may: ['change members'],
      refusals: [...MANAGING_REFUSALS, 'member_not_found', 'last_owner', ...BODY_REFUSALS],
      requests: {
        role: { summary: 'Give another role', value: { role: 'viewer' } },
        limits: {
          summary: 'Limit the month',
          value: { spending_limits: [{ period: 'monthly', credits: 10 }] },
        },
        deactivate: { summary: 'Deactivate the member and their keys', value: { is_active: false } },
      },
      answer: MEMBER_EXAMPLE,
    },
  };
  const onRequest = beforeTheBody(deps, 'change members');
  app.patch(PATH, { schema, onRequest }, async (request) => {
    const caller = await callerOf(deps, request, 'change members');
    const { accountId } = caller;
    const personId = personIdOf(request);
    const change = readBody(MemberPatch, request.body);
    if (caller.member?.personId === personId) {
      throw new GatewayError(
        'not_permitted',
        'Nobody changes their own membership. Ask another owner or admin.',
      );
    }
    const changed = await book.updateMember(accountId, personId, change, changerOf(caller), Date.now());
    await published(ledger, changed);
    const member = await book.member(accountId, personId);
    if (!member) throw memberNotFound();
    const [view] = await memberViews(deps, accountId, [member]);
    return view;
  });
}

function removeRoute(app: FastifyInstance, deps: MembersDeps): void {
  const { book, ledger } = deps;
  const schema: FastifySchema = {
    ...docs,
    operationId: 'removeMember',
    summary: 'Remove a member, or leave',
    description:
      'Ends the membership and deactivates all keys of the person in the account: every gateway refuses them from the ' +
      'answer on. With your own id you leave the account, whatever your role.',
    params: PersonPath,
    response: { 200: Deleted },
    'x-docs': {
      may: ['change members', 'leave the account'],
      refusals: [...MANAGING_REFUSALS, 'member_not_found', 'last_owner'],
      answer: { deleted: true },
    },
  };
  const actions = ['change members', 'leave the account'] as const;
  app.delete(PATH, { schema, onRequest: beforeTheBody(deps, ...actions) }, async (request) => {
    const caller = await callerOf(deps, request, ...actions);
    const { accountId, member, reach } = caller;
    const personId = personIdOf(request);
    const isLeaving = member?.personId === personId;
    if (member && !isLeaving && reach === 'own') throw notPermitted(member, 'change members');
    const changer = isLeaving ? { by: caller.actor, roles: ALL_ROLES } : changerOf(caller);
    await published(ledger, await book.removeMember(accountId, personId, changer, Date.now()));
    return { deleted: true };
  });
}

/** Publishes the keys of a changed membership. Throws `member_not_found`. */
async function published(ledger: Ledger, changed: ChangedMember | undefined): Promise<void> {
  if (!changed) throw memberNotFound();
  await publishKeys(ledger, changed.keys);
}

/** The `person_id` of the path. Throws `member_not_found` for anything that cannot be an id. */
function personIdOf(request: FastifyRequest): number {
  const personId = pathId((request.params as { person_id: string }).person_id);
  if (personId === undefined) throw memberNotFound();
  return personId;
}
