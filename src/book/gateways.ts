import { sql } from 'kysely';
import type { Store } from './store.ts';

/** A gateway's note in the book that it runs, and on which Redis. */
export interface GatewayNote {
  /** Random, one per process. */
  readonly id: string;
  /** The id that gateways keep in their Redis. */
  readonly redis: string;
  /** For the operator: the address of that Redis, without credentials. */
  readonly address: string;
}

/** Gateways that run on this book. Only a book on a server can have several; SQLite has no notes. */
export interface BookGateways {
  noteGateway(note: GatewayNote): Promise<void>;
  /** Notes of the last `withinMs`, by the server's clock, of gateways on another Redis, with the times of the notes. */
  gatewaysElsewhere(redis: string, withinMs: number): Promise<(GatewayNote & { readonly seenAt: number })[]>;
  forgetGateway(id: string): Promise<void>;
}

/** Milliseconds since the epoch by the server's clock, which all gateways share. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
/** A note this old is of a gateway that no longer runs. */
export const RUNNING_MS = 10_000;
/** Notes of killed gateways go after a day. */
const DAY_MS = 86_400_000;

export function gatewayQueries({ db, engine }: Store): BookGateways {
  if (engine === 'sqlite') {
    return {
      async noteGateway() {},
      gatewaysElsewhere: async () => [],
      async forgetGateway() {},
    };
  }
  return {
    async noteGateway(note) {
      await db
        .insertInto('gateways')
        .values({ ...note, seen_at: NOW })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ redis: note.redis, seen_at: NOW }))
        .execute();
    },
    async gatewaysElsewhere(redis, withinMs) {
      const rows = await db
        .selectFrom('gateways')
        .selectAll()
        .where('redis', '<>', redis)
        .where('seen_at', '>', sql<number>`${NOW} - ${withinMs}::bigint`)
        .execute();
      return rows.map(({ seen_at, ...note }) => ({ ...note, seenAt: seen_at }));
    },
    async forgetGateway(id) {
      const isOld = sql<boolean>`seen_at < ${NOW} - ${DAY_MS}::bigint`;
      await db
        .deleteFrom('gateways')
        .where((where) => where.or([where('id', '=', id), isOld]))
        .execute();
    },
  };
}
