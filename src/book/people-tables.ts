import type { Generated, Selectable } from 'kysely';
import type { ActorType } from '../domain/actor.ts';
import type { AuditAction, AuditTargetType } from '../domain/audit.ts';
import type { Role } from '../domain/roles.ts';

/** Tables of people and of what they do; formats as in schema.ts. */
export interface PeopleTables {
  persons: PersonsTable;
  identities: IdentitiesTable;
  memberships: MembershipsTable;
  invitations: InvitationsTable;
  sessions: SessionsTable;
  one_time_links: OneTimeLinksTable;
  known_addresses: KnownAddressesTable;
  audit: AuditTable;
}

/** People who sign in. */
interface PersonsTable {
  id: Generated<number>;
  email: string;
  /** As `email_key` of accounts; unique. */
  email_key: string;
  name: string;
  /** `hashPassword` (people/passwords.ts); null: no password. */
  password_hash: string | null;
  is_operator: number;
  is_active: number;
  created_at: number;
  last_seen_at: number | null;
}

/** Subjects of OpenID providers, each of one person. */
interface IdentitiesTable {
  id: Generated<number>;
  person_id: number;
  issuer: string;
  subject: string;
  /** As the provider told it at the last sign-in, for display only. */
  email: string | null;
  created_at: number;
}

interface MembershipsTable {
  id: Generated<number>;
  account_id: number;
  person_id: number;
  role: Role;
  is_active: number;
  can_create_keys: number;
  /** JSON list of SpendingLimit. */
  spending_limits: string;
  /** Name of the OpenID provider whose claim made it, and which may change it; null: none. */
  issuer: string | null;
  created_at: number;
}

interface InvitationsTable {
  id: Generated<number>;
  account_id: number;
  role: Role;
  email: string | null;
  name: string | null;
  can_create_keys: number;
  spending_limits: string;
  /** SHA-256 (hex). */
  secret_hash: string;
  created_at: number;
  expires_at: number;
  /** Accepted or withdrawn; null: open until it expires. */
  ended_at: number | null;
}

interface SessionsTable {
  id: Generated<number>;
  /** SHA-256 (hex). */
  secret_hash: string;
  /** Null: of a key or of the operator's token. */
  person_id: number | null;
  /** Of the session of a key. */
  key_id: number | null;
  /** SHA-256 (hex) of the key's value, or the keyed hash of the token (people/sessions.ts). */
  credential_hash: string | null;
  /** When it began. */
  created_at: number;
  seen_at: number;
  ip: string | null;
  user_agent: string | null;
}

/** Links that work once: a new password, or the first person of the command line. */
interface OneTimeLinksTable {
  /** SHA-256 (hex). */
  secret_hash: string;
  kind: 'reset' | 'setup';
  /** Of a reset. */
  person_id: number | null;
  /** Of a setup. */
  email: string | null;
  expires_at: number;
}

/** Addresses from which a person signed in. */
interface KnownAddressesTable {
  person_id: number;
  ip: string;
  seen_at: number;
}

interface AuditTable {
  id: Generated<number>;
  at: number;
  /** Null: of no account. */
  account_id: number | null;
  actor_type: ActorType;
  actor_id: number | null;
  action: AuditAction;
  target_type: AuditTargetType;
  target_id: string | null;
  /** JSON of the fields that changed; null: none. */
  before: string | null;
  after: string | null;
  ip: string | null;
  request_id: string | null;
}

export type PersonRow = Selectable<PersonsTable>;
export type MembershipRow = Selectable<MembershipsTable>;
export type InvitationRow = Selectable<InvitationsTable>;
export type SessionRow = Selectable<SessionsTable>;
export type AuditRow = Selectable<AuditTable>;
