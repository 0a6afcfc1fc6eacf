import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifySchema } from 'fastify';
import type { BookAudit } from '../../book/audit.ts';
import { ACTOR_TYPES } from '../../domain/actor.ts';
import { AUDIT_ACTIONS, AUDIT_TARGETS } from '../../domain/audit.ts';
import { maybe, number, oneOf, optional, type Parsed, readQuery, section, text } from '../../domain/shape.ts';
import type { Pools } from '../../shares/pools.ts';
import { requireOrder, when } from '../calls/calls-query.ts';
import { type CallerParts, callerOf } from '../http/callers.ts';
import { FORMATS, listAnswer } from '../http/export-formats.ts';
import { speakJson } from '../http/json-routes.ts';
import { OPERATOR, sendExport } from '../http/long-answer.ts';
import { CURSOR } from '../openapi/fields.ts';
import { BY_ACCOUNT, BY_OPERATOR, MANAGING_REFUSALS, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { csvEntry, csvHeader, ENTRY_EXAMPLE, entryView, Page } from './audit-view.ts';

interface AuditDeps {
  readonly book: BookAudit;
  readonly pools: Pools;
}

const DAY_MS = 86_400_000;
const PAGE_LIMIT = { min: 1, max: 200, usual: 50 };

/** `<type>:<id>`; without an id, as for the operator, `<type>:`. */
function typeAndId(types: readonly string[]) {
  return text(
    `must be <type>:<id>, with a type among ${types.join(', ')} and its number as the id`,
    (given) => {
      const [, type = '', id = ''] = /^([a-z]+):([^\0]{0,300})$/.exec(given) ?? [];
      // Only routes have names for ids.
      const isRight = types.includes(type) && (type === 'route' || /^\d{0,15}$/.test(id));
      return isRight ? { type, id } : undefined;
    },
    { examples: [`${types[0]}:1`] },
  );
}

const FILTERS = {
  limit: {
    ...maybe(
      number(PAGE_LIMIT.min, PAGE_LIMIT.max),
      'Maximum number of entries. Exports return all by default.',
    ),
    shownDefault: PAGE_LIMIT.usual,
  },
  before: maybe(CURSOR, '`next` of the previous page.'),
  from: when(0, 'Only entries from this time on.'),
  to: when(DAY_MS - 1, 'Only entries up to this time; a day is included.'),
  actor: maybe(typeAndId(ACTOR_TYPES), 'Only what this actor did: `<type>:<id>`.'),
  target: maybe(typeAndId(AUDIT_TARGETS), 'Only what was done to this: `<type>:<id>`.'),
  action: maybe(oneOf(...AUDIT_ACTIONS), 'Only this action.'),
  format: optional(oneOf(...FORMATS), 'json', '`csv` and `jsonl` stream all entries, as files to save.'),
};

const AuditFilters = section(FILTERS);
const AllAuditFilters = section({
  ...FILTERS,
  account_id: maybe(number(1), 'Only entries of this account.'),
});

const AuditAnswer = listAnswer('audit', Page, {
  csv: csvHeader() + csvEntry(ENTRY_EXAMPLE),
  jsonl: ENTRY_EXAMPLE,
});

/** `GET /api/account/audit/`: what was done in an account, and by whom. */
export function auditRoutes(deps: AuditDeps & CallerParts): FastifyPluginAsync {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_ACCOUNT,
    operationId: 'listAuditEntries',
    summary: 'List or export the audit log',
    description:
      'Returns changes of settings, keys, members and invitations of the account, newest first. Kept for ' +
      '`people.auditDays`.',
    querystring: AuditFilters.schema,
    response: { 200: AuditAnswer },
    'x-docs': {
      may: ['read the audit log'],
      refusals: [...MANAGING_REFUSALS, 'rate_limit_exceeded'],
      answer: { entries: [ENTRY_EXAMPLE], next: null },
    },
  };
  return async (app) => {
    speakJson(app);
    app.get('/api/account/audit/', { schema }, async (request, reply) => {
      const { accountId } = await callerOf(deps, request, 'read the audit log');
      return readAudit(deps, { ...readQuery(AuditFilters, request.query), accountId }, reply);
    });
  };
}

/** `GET /api/admin/audit/`: of all accounts, and of none. */
export function adminAuditRoute(app: FastifyInstance, deps: AuditDeps): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'listAuditEntriesOfAll',
    summary: 'List or export the whole audit log',
    description: 'Returns the answer of `/api/account/audit/` for all accounts, with sign-ins.',
    querystring: AllAuditFilters.schema,
    response: { 200: AuditAnswer },
    'x-docs': { refusals: OPERATOR_REFUSALS, answer: { entries: [ENTRY_EXAMPLE], next: null } },
  };
  app.get('/api/admin/audit/', { schema }, (request, reply) =>
    readAudit(deps, { accountId: undefined, ...readQuery(AllAuditFilters, request.query) }, reply),
  );
}

async function readAudit(
  { book, pools }: AuditDeps,
  asked: Parsed<typeof AuditFilters> & { readonly accountId: number | undefined },
  reply: FastifyReply,
) {
  const { format, limit: most, ...filter } = asked;
  requireOrder(filter);
  if (format !== 'json') {
    return await sendExport(pools, reply, {
      name: 'audit',
      format,
      owner: filter.accountId ?? OPERATOR,
      limit: most ?? Number.POSITIVE_INFINITY,
      before: filter.before,
      read: (before, limit) => book.auditEntries({ ...filter, before, limit }),
      placeOf: ({ id }) => id,
      viewOf: entryView,
      csvHeader,
      csvLine: csvEntry,
    });
  }
  const limit = most ?? PAGE_LIMIT.usual;
  const found = await book.auditEntries({ ...filter, limit: limit + 1 });
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return { entries: entries.map(entryView), next: last && found.length > limit ? String(last.id) : null };
}
