import type { AuditEntry } from '../../book/audit.ts';
import { ACTOR_TYPES } from '../../domain/actor.ts';
import { AUDIT_ACTIONS, AUDIT_TARGETS } from '../../domain/audit.ts';
import { csvLine } from '../../domain/csv.ts';
import { timestamp } from '../../domain/period.ts';
import { id, orNull, time } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const Fields = Type.Object({}, { additionalProperties: true });
const NAME = 'Present name; null: none, or erased.';

export const Entry = Type.Object(
  {
    id: id('Id of the entry; later ones are larger.'),
    at: time('When it was done.'),
    actor: Type.Object(
      {
        type: Type.Enum(ACTOR_TYPES, {
          description: '`operator`: ADMIN_TOKEN or the command line; `system`: the gateway itself.',
        }),
        id: orNull(Type.Integer(), 'Of the person or key.'),
        name: orNull(Type.String(), NAME),
      },
      { description: 'Who did it.' },
    ),
    action: Type.Enum(AUDIT_ACTIONS, {
      description: 'What was done. `request.refuse`: a change was refused.',
    }),
    target: Type.Object(
      {
        type: Type.Enum(AUDIT_TARGETS, { description: '`route`: a refused request.' }),
        id: orNull(
          Type.Union([Type.Integer(), Type.String()]),
          'Of a member: of the person. Of a route, a text: method and path.',
        ),
        name: orNull(Type.String(), NAME),
      },
      { description: 'What it was done to.' },
    ),
    before: orNull(Fields, 'The fields that changed, as they were. Never secrets.'),
    after: orNull(Fields, 'The fields that changed, as they are then.'),
    account_id: orNull(Type.Integer(), 'Account in which it was done; null: in none, as sign-ins.'),
    ip: orNull(Type.String(), 'Address of the client.'),
    request_id: orNull(Type.String(), '`x-request-id` of the request.'),
  },
  { title: 'AuditEntry', description: 'A change, a sign-in, or a refused change.' },
);
export type EntryView = Static<typeof Entry>;

export const Page = Type.Object(
  {
    entries: Type.Array(Entry),
    next: orNull(Type.String(), 'Send it as `before` for the next page; null: no more.'),
  },
  { title: 'AuditPage', description: 'Entries, newest first.' },
);

export const ENTRY_EXAMPLE: EntryView = {
  id: 7,
  at: '2026-11-29T08:00:00.000Z',
  actor: { type: 'person', id: 1, name: 'Ada' },
  action: 'key.update',
  target: { type: 'key', id: 2, name: 'web app' },
  before: { rpm_limit: null },
  after: { rpm_limit: 600 },
  account_id: 1,
  ip: '203.0.113.9',
  request_id: 'req_7Qm2xX4cRn9sKd1V6t',
};

export function entryView(entry: AuditEntry): EntryView {
  return {
    id: entry.id,
    at: timestamp(entry.at),
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    before: entry.before,
    after: entry.after,
    account_id: entry.accountId,
    ip: entry.ip,
    request_id: entry.requestId,
  };
}

export function csvHeader(): string {
  const ofWho = ['actor_type', 'actor_id', 'actor_name'];
  const ofWhat = ['target_type', 'target_id', 'target_name'];
  return csvLine([
    'id',
    'at',
    ...ofWho,
    'action',
    ...ofWhat,
    'before',
    'after',
    'ip',
    'request_id',
    'account_id',
  ]);
}

export function csvEntry({ actor, target, before, after, ...entry }: EntryView): string {
  return csvLine([
    entry.id,
    entry.at,
    actor.type,
    actor.id,
    actor.name,
    entry.action,
    target.type,
    target.id,
    target.name,
    before && JSON.stringify(before),
    after && JSON.stringify(after),
    entry.ip,
    entry.request_id,
    entry.account_id,
  ]);
}
