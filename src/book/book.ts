import type { BookAccountErasure } from './account-erasure.ts';
import type { BookAccountSums } from './account-sums.ts';
import type { BookAccounts } from './accounts.ts';
import type { BookAlerts } from './alerts.ts';
import type { BookAttention } from './attention.ts';
import type { BookAudit } from './audit.ts';
import type { BookCalls } from './calls.ts';
import type { BookCallsSummary } from './calls-summary.ts';
import type { BookErasure } from './erasure.ts';
import type { BookGateways } from './gateways.ts';
import type { BookGrants } from './grants.ts';
import type { BookIdentities } from './identities.ts';
import type { BookInvitations } from './invitations.ts';
import type { BookKeys } from './keys.ts';
import type { BookLedger } from './ledger.ts';
import type { BookMembers } from './members.ts';
import type { BookNames } from './names.ts';
import type { BookLinks } from './one-time-links.ts';
import type { BookPersons } from './persons.ts';
import type { BookPosting } from './post.ts';
import type { BookPublication } from './publication.ts';
import type { BookRefusals } from './refusals.ts';
import type { BookResources } from './resources.ts';
import type { BookRetention } from './retention.ts';
import type { KeyRotations } from './rotation.ts';
import type { BookSessions } from './sessions.ts';
import type { BookSnapshots } from './snapshot.ts';
import type { BookTransfer } from './transfer.ts';
import type { BookUsage } from './usage.ts';

/**
 * Database of record: accounts, keys, ledger, grants, alerts. One implementation over Kysely serves SQLite and
 * PostgreSQL. Every method rejects with BookUnavailable if the database is unreachable. Times are milliseconds since
 * the epoch; amounts are micro-credits.
 */
export interface Book
  extends BookAccounts,
    BookAccountSums,
    BookAttention,
    BookKeys,
    KeyRotations,
    BookPublication,
    BookGrants,
    BookPosting,
    BookSnapshots,
    BookLedger,
    BookUsage,
    BookCalls,
    BookCallsSummary,
    BookNames,
    BookRefusals,
    BookRetention,
    BookAlerts,
    BookResources,
    BookMembers,
    BookInvitations,
    BookPersons,
    BookLinks,
    BookSessions,
    BookIdentities,
    BookErasure,
    BookAccountErasure,
    BookGateways,
    BookAudit,
    BookTransfer {
  /**
   * Random, created with the tables. Names the live state in Redis, so another book's state is never used for this one.
   */
  readonly id: string;
  /** Random, never shown; the same for all gateways of the book, also after a restore. */
  readonly secret: string;
  ping(): Promise<void>;
  close(): Promise<void>;
}
