import type { Membership, Person } from '../domain/people.ts';

export type { Membership, Person };

/** The session of a request. */
export interface SignedIn {
  readonly sessionId: number;
  readonly person: Person;
  /** When the person signed in. */
  readonly signedInAt: number;
  /** The person's active memberships. */
  readonly memberships: readonly Membership[];
}
